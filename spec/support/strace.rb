# frozen_string_literal: true

require "tempfile"

# System calls of a process, all its threads, between two points in time.
module Strace
  # What talks to the network or waits for it, and nothing of the interpreter's own.
  NETWORK = "%network,read,write,readv,writev,poll,ppoll,select,pselect6,epoll_wait,epoll_pwait,epoll_pwait2,close"

  module_function

  # @return [Boolean] whether strace is here and may trace; needs ptrace(2)
  def available?
    return @available unless @available.nil?

    @available = begin
      Process.wait2(Process.spawn("strace", "-e", "trace=none", "true", err: IO::NULL, out: IO::NULL))[1].success?
    rescue Errno::ENOENT
      false
    end
  end

  # Counts what +pid+ does while the block runs.
  # @param calls [String] which, as strace(1) names them after "trace="
  # @return [Hash{String => Integer}] calls by name; a call that only began counts
  def count(pid, calls: NETWORK, &block)
    lines(pid, calls: calls, &block).map { |line| line[/\A\d+ +(\w+)\(/, 1] }.compact.tally
  end

  # @return [Array<String>] strace's own lines: thread id, call, arguments, result
  def lines(pid, calls: NETWORK)
    Tempfile.create("strace") do |log|
      IO.pipe do |said, says|
        tracer = Process.spawn("strace", "-f", "-e", "trace=#{calls}", "-e", "signal=none", "-o", log.path,
                               "-p", pid.to_s, err: says, out: IO::NULL)
        says.close
        begin
          wait_until_attached(pid, said)
          yield
        ensure
          # Writes the rest of its log.
          Process.kill(:INT, tracer)
          said.read
          Process.wait(tracer)
        end
      end
      File.readlines(log.path)
    end
  end

  # strace tells of each thread as it attaches to it; the kernel knows for sure.
  def wait_until_attached(pid, said)
    deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 10
    until traced?(pid)
      raise "strace does not attach: #{said.read_nonblock(4096, exception: false)}" if
        Process.clock_gettime(Process::CLOCK_MONOTONIC) > deadline

      sleep(0.01)
    end
  end

  def traced?(pid)
    Dir["/proc/#{pid}/task/*/status"].all? { |file| File.read(file)[/^TracerPid:\s+(\d+)/, 1] != "0" }
  rescue Errno::ENOENT
    false # a thread ended meanwhile
  end

  private_class_method :wait_until_attached, :traced?
end
