# frozen_string_literal: true

require "rbconfig"
require "timeout"

# Ruby code in a process of its own, which never outlives the example.
#
#   Child.run("puts 1 + 1").out # => "2\n"
#
#   Child.start("puts 42; $stdin.gets; puts :bye") do |child|
#     child.gets # => "42\n"
#     child.puts
#     child.wait.out # => "bye\n", what was not taken by gets
#   end
class Child
  LIB = File.expand_path("../../lib", __dir__)

  # @!attribute status [Process::Status, nil] nil if it had to be killed
  # @!attribute out [String] standard output
  # @!attribute err [String] standard error
  Result = Struct.new(:status, :out, :err) do
    def success?
      !status.nil? && status.success?
    end

    def to_s
      "#{status || "killed after the timeout"}\n#{out}#{err}"
    end
  end

  class << self
    # Runs +code+ to its end.
    # @param code [String] Ruby
    # @param args [Array<String>] of the program (ARGV)
    # @param options [Array<String>] of the interpreter; by default our lib/ is on the load path
    # @param env [Hash] added to the environment; nil unsets
    # @param timeout [Numeric] seconds; then it is killed
    # @return [Result]
    def run(code, timeout: 30, **how)
      child = new(code, **how)
      child.close_input
      child.wait(timeout)
    ensure
      child&.stop
    end

    # Yields a running child; it is stopped after the block.
    def start(code, **how)
      child = new(code, **how)
      yield child
    ensure
      child&.stop
    end
  end

  # @return [Integer] process id, which is also that of its process group
  attr_reader :pid

  def initialize(code, args: [], options: ["-I", LIB], env: {}, chdir: Dir.pwd, program: [])
    @out = IO.pipe
    @err = IO.pipe
    @in = IO.pipe
    @pid = Process.spawn(
      env, *program, RbConfig.ruby, *options, "-e", code, "--", *args,
      in: @in[0], out: @out[1], err: @err[1], pgroup: true, chdir: chdir
    )
    @in[0].close
    @out[1].close
    @err[1].close
    # Read all along, or a full pipe would stop the child.
    @lines = Thread::Queue.new
    @readers = [
      Thread.new { @out[0].each_line { |line| @lines << line } },
      Thread.new { @err[0].read }
    ]
  end

  # @return [String] the next line of standard output
  # @raise [RuntimeError] if none came within +timeout+ seconds or the child ended; tells its standard error
  def gets(timeout = 20)
    deadline = now + timeout
    loop do
      return @lines.pop(true) unless @lines.empty?
      break if now > deadline || !@readers[0].alive?

      sleep(0.005)
    end
    return @lines.pop(true) unless @lines.empty?

    raise "no line from the child: #{stop}"
  end

  def puts(line = "")
    @in[1].puts(line)
    @in[1].flush
  end

  def close_input
    @in[1].close unless @in[1].closed?
  end

  def kill(signal)
    Process.kill(signal, @pid) unless @result
  end

  # @return [Integer] resident memory in KiB
  def rss
    File.read("/proc/#{@pid}/status")[/^VmRSS:\s+(\d+)/, 1].to_i
  end

  def alive?
    return false if @result || @status

    @status = Process.wait2(@pid, Process::WNOHANG)&.last
    @status.nil?
  end

  # Waits for the end; kills the child after +timeout+ seconds.
  # @return [Result]
  def wait(timeout = 20)
    return @result if @result

    deadline = now + timeout
    sleep(0.005) while alive? && now < deadline
    finish
  end

  # Ends it at once, with what it has started.
  # @return [Result]
  def stop
    @result || finish
  end

  private

  def finish
    status = @status
    begin
      # The group: a child may have forked.
      Process.kill(:KILL, -@pid)
    rescue Errno::ESRCH
      nil # all gone
    end
    Process.wait(@pid) unless status
    close_input
    @readers.each { |reader| reader.join(5) || reader.kill }
    out = Array.new(@lines.size) { @lines.pop }.join
    err = @readers[1].value.to_s
    [@out[0], @err[0]].each(&:close)
    @result = Result.new(status, out, err)
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end
