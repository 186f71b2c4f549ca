# frozen_string_literal: true

require_relative "child"

RSpec.describe Child do
  def running?(pid)
    File.read("/proc/#{pid}/stat")[/\) (.)/, 1] != "Z"
  rescue Errno::ENOENT, Errno::ESRCH
    false
  end

  it "returns output, error output and status" do
    result = described_class.run("puts ARGV; warn ENV['WHAT']; exit 3", args: ["a"], env: { "WHAT" => "oh" })

    expect([result.out, result.err, result.status.exitstatus]).to eq(["a\n", "oh\n", 3])
  end

  it "returns more than a pipe holds" do
    expect(described_class.run("print 'x' * 300_000; $stderr.print 'y' * 300_000")).to have_attributes(
      out: "x" * 300_000, err: "y" * 300_000, success?: true
    )
  end

  it "kills a child, and what it forked, after the timeout" do
    result = described_class.run("puts fork { sleep }; $stdout.flush; sleep", timeout: 1)

    expect(result.status).to be_nil
    expect(result.out.to_i).to be > 0
    expect(Timeout.timeout(10) { sleep(0.01) while running?(result.out.to_i) }).to be_nil
  end

  it "talks line by line" do
    described_class.start("$stdout.sync = true; puts 42; puts $stdin.gets.to_i + 1; puts :bye") do |child|
      expect(child.gets).to eq("42\n")
      child.puts("7")
      expect(child.gets).to eq("8\n")
      expect(child.wait).to have_attributes(out: "bye\n", success?: true)
    end
  end

  it "tells why there is no line" do
    described_class.start("abort 'broken'") do |child|
      expect { child.gets }.to raise_error(/broken/)
    end
  end

  it "knows the memory of a living child" do
    described_class.start("$stdout.sync = true; puts; $stdin.gets") do |child|
      child.gets
      expect(child).to be_alive
      expect(child.rss).to be > 1000
      child.puts
      expect(child.wait).to be_success
      expect(child).not_to be_alive
    end
  end
end
