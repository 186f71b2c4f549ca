# frozen_string_literal: true

require "socket"
require_relative "child"
require_relative "strace"

RSpec.describe Strace do
  before { skip("strace can't trace here") unless described_class.available? }

  # Writes as many bytes as it is told, one a call, from a thread of its own.
  let(:code) do
    <<~RUBY
      require "socket"
      $stdout.sync = true
      a, b = Socket.pair(:UNIX, :STREAM)
      writer = Thread.new { loop { Thread.stop; $times.times { b.send("x", 0) }; puts :done } }
      puts :ready
      while (line = $stdin.gets)
        $times = line.to_i
        writer.wakeup
      end
    RUBY
  end

  it "counts the calls of all threads, only while the block runs" do
    Child.start(code) do |child|
      child.gets
      say = lambda do |times|
        child.puts(times)
        child.gets
      end
      say.call(5)
      counts = described_class.count(child.pid, calls: "sendto,futex") { say.call(3) }
      say.call(7)

      expect(counts["sendto"]).to eq(3)
    end
  end

  it "leaves the process alive and untraced" do
    Child.start(code) do |child|
      child.gets
      described_class.lines(child.pid) { nil }
      expect(child).to be_alive
      expect(File.read("/proc/#{child.pid}/status")).to match(/^TracerPid:\s+0$/)
    end
  end
end
