# frozen_string_literal: true

require "json"
require "rbconfig"

module ThriftBenchmark
  # A process that we started, in a process group of its own, and talk to in lines of JSON (see conversation.rb).
  # `Child.guard` ends whatever still runs when its block is left, by whatever way.
  class Child
    # A child that ended early or answered an error.
    class Failed < StandardError; end

    ROOT = File.expand_path("../..", __dir__)
    # Set for the stock side, whatever they are here for ours.
    SWITCH = "THRIFT_NATIVE"
    @running = []

    class << self
      attr_reader :running

      # Ends every child that is left at the end of the block.
      def guard
        yield
      ensure
        running.dup.each(&:stop)
      end

      # Sends each child its command, then waits for all the answers.
      # @return [Array<Hash>]
      def all(children, command)
        children.each { |child| child.send_command(command) }
        children.map(&:answer)
      end
    end

    attr_reader :pid, :native

    # @param program [String] a file of benchmark/programs
    # @param side [Symbol] :stock, :ours, or :linger_off (ours with THRIFT_NATIVE_LINGER=0)
    # @param options [Hash] for the program
    # @param interpreter [String, nil] instead of this Ruby
    # @param core [Integer, nil] to pin the process to
    # @param command [Array<String>, nil] instead of the program under this Ruby, with its load path
    # @param variables [Hash{String => String}] more of the environment
    def initialize(program, side, options, interpreter: nil, core: nil, command: nil, variables: {})
      @name = "#{program} (#{side})"
      command_out, @commands = IO.pipe
      @answers, answers_in = IO.pipe
      @pid = Process.spawn(
        environment(side, options, interpreter).merge(variables), *pin(core),
        *(command || [*ruby(interpreter, options), File.join(ROOT, "benchmark/programs/#{program}.rb")]),
        in: command_out, out: answers_in, err: :err, pgroup: true, unsetenv_others: true
      )
      self.class.running << self
      command_out.close
      answers_in.close
    end

    # Waits until the program is ready.
    def ready
      @native = answer.fetch("native")
      self
    end

    # @return [Hash, Array] the answer to a command
    def ask(command)
      send_command(command)
      answer
    end

    def send_command(command)
      @commands.puts(JSON.generate(command))
      @commands.flush
    rescue Errno::EPIPE
      raise Failed, "#{@name} has ended"
    end

    def answer
      line = @answers.gets or raise Failed, "#{@name} has ended; its own messages are above"
      JSON.parse(line)
    end

    # @return [Hash] see Program.counters
    def counters
      ask("do" => "counters")
    end

    # Closes its input, which ends it; after two seconds, by force.
    def stop
      self.class.running.delete(self)
      @commands.close unless @commands.closed?
      20.times { gone? ? break : sleep(0.1) }
      Process.kill(:KILL, -@pid) unless gone?
      @waiter&.value
    rescue Errno::ESRCH
      nil
    ensure
      @answers.close unless @answers.closed?
    end

    # @return [Boolean] whether processes can be pinned to a core here
    def self.taskset?
      return @taskset unless @taskset.nil?

      @taskset = !!system("taskset", "-c", "0", "true", out: File::NULL, err: File::NULL)
    end

    private

    def gone?
      @waiter ||= Process.detach(@pid)
      !@waiter.join(0.01).nil?
    end

    # The children know nothing of Bundler: only the load path decides which thrift they get.
    def environment(side, options, interpreter)
      kept = defined?(Bundler) ? Bundler.unbundled_env : ENV.to_h
      kept = kept.merge("THRIFT_BENCHMARK_OPTIONS" => JSON.generate(options))
      kept = kept.reject { |name, _| name.start_with?("GEM_", "RUBY") } if interpreter # they are this Ruby's
      kept.delete(SWITCH)
      kept[SWITCH] = "0" if side == :stock
      kept["THRIFT_NATIVE_LINGER"] = "0" if side == :linger_off
      kept
    end

    def ruby(interpreter, options)
      thrift = Gem.loaded_specs.fetch("thrift") { raise Failed, "run this under Bundler: `bundle exec rake`" }
      paths = [*(options["plain"] ? [] : [File.join(ROOT, "lib")]), *thrift.full_require_paths]
      [*(interpreter ? [interpreter, "-W0"] : RbConfig.ruby), *paths.map { |path| "-I#{path}" }]
    end

    def pin(core)
      core && Child.taskset? ? ["taskset", "-c", core.to_s] : []
    end
  end
end
