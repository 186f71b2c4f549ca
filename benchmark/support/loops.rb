# frozen_string_literal: true

module ThriftBenchmark
  # Loops over one operation each, and what they cost: CPU time of the process, objects allocated.
  class Loops
    def initialize
      @loops = {}
      @counts = {}
    end

    # @param key [Array<String>] names the loop
    # @param loop [#call] repeats its operation as many times as its argument says
    def add(*key, loop)
      @loops[key] = loop
    end

    # @param seconds [Float] how long the loop shall run; from its first run on that is a number of operations
    # @return [Float] seconds of CPU an operation
    def time(*key, seconds)
      loop = @loops.fetch(key)
      count = @counts[key] ||= calibrate(loop, seconds)
      GC.start
      cost(loop, count) / count
    end

    # @return [Float] objects allocated by an operation
    def objects(*key, count: 20)
      loop = @loops.fetch(key)
      loop.call(count)
      before = GC.stat(:total_allocated_objects)
      loop.call(count)
      (GC.stat(:total_allocated_objects) - before).fdiv(count)
    end

    private

    def cost(loop, count)
      start = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
      loop.call(count)
      Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) - start
    end

    def calibrate(loop, seconds)
      count = 1
      loop.call(2)
      count *= 2 while (spent = cost(loop, count)) < seconds / 4
      [(count * seconds / spent).round, 1].max
    end
  end
end
