# frozen_string_literal: true

require "io/wait"

# The smallest fiber scheduler that sockets, sleeps, mutexes and threads need (Fiber::SchedulerInterface).
#
#   Scheduler.run { Fiber.schedule { socket.read(1) }; Fiber.schedule { socket.write("x") } }
class Scheduler
  # Runs the block, and all fibers that it schedules, in a thread of its own.
  # @param limit [Numeric] seconds, after which it fails
  # @return what the block returned
  def self.run(limit: 10)
    scheduler = new
    thread = Thread.new do
      Thread.current.report_on_exception = false
      Fiber.set_scheduler(scheduler)
      result = nil
      Fiber.schedule { result = yield }
      scheduler.close
      result
    end
    thread.join(limit) or raise "fibers hang:\n#{thread.backtrace&.join("\n")}"
    thread.value
  ensure
    thread&.kill
  end

  # @return [Array<Symbol>] which hooks were called, in order
  attr_reader :calls

  def initialize
    @calls = []
    @waiting = {} # fiber => [io or nil, events, deadline or nil]
    @ready = Thread::Queue.new
    @wake, @waker = IO.pipe
  end

  def io_wait(io, events, timeout)
    @calls << :io_wait
    park(io, events, timeout)
  end

  def kernel_sleep(duration = nil)
    @calls << :kernel_sleep
    park(nil, 0, duration)
    true
  end

  def block(_blocker, timeout = nil)
    @calls << :block
    park(nil, 0, timeout)
  end

  def unblock(_blocker, fiber)
    @ready << fiber
    @waker.write_nonblock(".", exception: false)
  end

  def fiber(&block)
    Fiber.new(blocking: false, &block).tap(&:resume)
  end

  def close
    step until @waiting.empty? && @ready.empty?
  end

  private

  def park(io, events, timeout)
    @waiting[Fiber.current] = [io, events, timeout && (now + timeout)]
    Fiber.yield
  end

  def step
    readable, writable = select
    @wake.read_nonblock(4096, exception: false)
    resume(@ready.pop, true) until @ready.empty?
    @waiting.to_a.each do |fiber, (io, events, deadline)|
      next unless @waiting.key?(fiber)

      got = (readable.include?(io) ? events & IO::READABLE : 0) | (writable.include?(io) ? events & IO::WRITABLE : 0)
      if got != 0
        resume(fiber, got)
      elsif deadline && deadline <= now
        resume(fiber, false)
      end
    end
  end

  def select
    entries = @waiting.values
    first = entries.map(&:last).compact.min
    ios = ->(event) { entries.select { |io, events,| io && events.anybits?(event) }.map(&:first) }
    readable, writable, = IO.select([@wake, *ios.call(IO::READABLE)], ios.call(IO::WRITABLE), nil,
                                    first && [first - now, 0].max)
    [readable || [], writable || []]
  end

  def resume(fiber, value)
    @waiting.delete(fiber)
    fiber.resume(value) if fiber.alive?
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end
