# frozen_string_literal: true

require_relative "child"

RSpec.describe Child do
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
    expect(File.exist?("/proc/#{result.out.to_i}") && File.read("/proc/#{result.out.to_i}/stat")[/\) (.)/, 1])
      .to eq(false).or eq("Z")
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
    described_class.start("$stdin.gets") do |child|
      expect(child).to be_alive
      expect(child.rss).to be > 1000
      child.puts
      expect(child.wait).to be_success
      expect(child).not_to be_alive
    end
  end
end
