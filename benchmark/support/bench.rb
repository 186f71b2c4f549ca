# frozen_string_literal: true

require "socket"
require_relative "child"
require_relative "service"
require_relative "settings"

module ThriftBenchmark
  # A server and its clients on one side, :stock or :ours.
  class Bench
    HOST = "127.0.0.1"
    # Below the range that the kernel takes clients' ports from.
    PORTS = (20_000...32_000).freeze

    attr_reader :side, :server, :clients, :port

    # @param options [Hash] for both programs: "transport", "protocol", "tls", "certificate", "key", "server", "workers"
    # @param clients [Integer] how many client processes
    # @param program [String] what they run
    # @param core [Integer, nil] to pin everything to
    def initialize(side, options, clients: 1, program: "client", core: nil)
      @side = side
      @port = free_port
      options = options.merge("host" => HOST, "port" => @port)
      @server = Child.new("server", side, options, interpreter: Settings.server_interpreter, core: core)
      @server.ready
      @clients = Array.new(clients) { Child.new(program, side, options, core: core) }
      @clients.each(&:ready)
    end

    def client
      clients.first
    end

    def stop
      [*clients, server].each(&:stop)
    end

    # Seconds of CPU and objects that the server uses while the block runs.
    # @return [Array(Object, Float, Integer)] the block's value, CPU, objects
    def server_counters
      before = server.counters
      value = yield
      after = server.counters
      [value, after["cpu"] - before["cpu"], after["objects"] - before["objects"]]
    end

    private

    def free_port
      20.times do
        port = rand(PORTS)
        TCPServer.new(HOST, port).close
        return port
      rescue Errno::EADDRINUSE
        next
      end
      raise Child::Failed, "no free port between #{PORTS.first} and #{PORTS.last}"
    end
  end

  # The two sides, run in turns.
  class Pair
    SIDES = %i[stock ours].freeze

    attr_reader :benches

    # Starts both sides, compares their answers, and stops them after the block.
    def self.open(options, **arguments)
      pair = new(options, **arguments)
      yield pair
    ensure
      pair&.stop
    end

    def initialize(options, sides: SIDES, check: true, **arguments)
      @benches = sides.map { |side| Bench.new(side, options, **arguments) }
      compare if check
    end

    def stop
      benches.each(&:stop)
    end

    # @return [Hash] what our side says of itself
    def native
      benches.find { |bench| bench.side == :ours }&.server&.native || {}
    end

    # Runs the block `count` times for each side; which side goes first changes from round to round.
    # @yieldparam bench [Bench]
    # @return [Hash{Symbol => Array}] the block's values by side
    def rounds(count, bar = nil)
      results = benches.map { |bench| [bench.side, []] }.to_h
      count.times do |round|
        (round.even? ? benches : benches.reverse).each do |bench|
          results[bench.side] << yield(bench)
          bar&.increment
        end
      end
      results
    end

    private

    # A benchmark of wrong answers is worth nothing.
    def compare
      answers = benches.map { |bench| bench.client.ask("do" => "check") }
      return if answers.uniq.size == 1 && answers.first.values.all? { |digest| digest.match?(/\A\h{64}\z/) }

      raise Child::Failed, "the answers differ: #{answers.inspect}"
    end
  end
end
