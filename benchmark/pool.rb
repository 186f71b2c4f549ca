# frozen_string_literal: true

require_relative "connections"
require_relative "support/calls"
require_relative "support/certificate"
require_relative "support/progress"
require_relative "support/report"

module ThriftBenchmark
  # rake benchmark: many clients against one server, plain and TLS, and the one-connection figures in short.
  #
  # P processes open C connections each, one after the other, and make N calls over each of them: "P x C x N".
  module Pool
    # Shape, as in the environment variables; the time of such a run is a few seconds with the stock gem.
    Shape = Struct.new(:processes, :clients, :calls) do
      def to_s
        to_a.join(" x ")
      end

      def connections
        processes * clients
      end
    end

    # The sizes that the experiment is known by; too long for every day.
    FULL = [Shape.new(4, 100, 50), Shape.new(4, 1000, 1)].freeze
    SHORT = [Shape.new(4, 20, 50), Shape.new(4, 100, 1)].freeze
    SMOKE = [Shape.new(2, 2, 5), Shape.new(2, 4, 1)].freeze
    SIZES = %w[THRIFT_NUM_PROCESSES THRIFT_NUM_CLIENTS THRIFT_NUM_CALLS].freeze
    # One-connection figures in the default run: rounds and echo calls in a round.
    SHORT_ROUNDS = 5
    SHORT_CALLS = 1000

    module_function

    def run
      shapes = self.shapes
      rounds = Settings.integer("BENCHMARK_ROUNDS", 5, 1)
      report = Report.new("benchmark", "rounds" => rounds, "shapes" => shapes.map(&:to_s))
      # JRuby's OpenSSL takes an EC key for an RSA key.
      Certificate.with(Settings.server_interpreter ? :rsa : :ec, bits: 2048) do |paths|
        Progress.over("benchmark", steps(shapes, rounds)) do |bar|
          measure(shapes, rounds, paths, report, bar)
          one_connection(paths, report, bar) unless given?
        end
      end
      full_commands.each { |command| report.remark(command) }
      report.finish
    end

    # Whether the caller chose the sizes; then only that is measured.
    def given?
      SIZES.any? { |name| !ENV.fetch(name, "").empty? }
    end

    def shapes
      return Settings.smoke? ? SMOKE : SHORT unless given?

      [Shape.new(Settings.integer(SIZES[0], 4, 2), Settings.integer(SIZES[1], 20, 2),
                 Settings.integer(SIZES[2], 50, 5))]
    end

    def short_rounds
      Settings.smoke? ? 1 : SHORT_ROUNDS
    end

    def steps(shapes, rounds)
      kinds = Settings.tls.size * Settings.transports.size * Settings.protocols.size
      total = kinds * shapes.size * rounds * Pair::SIDES.size
      given? ? total : total + ((Settings.tls.size + 2) * Calls.steps(short_rounds))
    end

    def measure(shapes, rounds, paths, report, bar)
      Settings.tls.product(Settings.transports, Settings.protocols).each do |tls, transport, protocol|
        options = options(tls, transport, protocol, paths)
        Pair.open(options, clients: shapes.map(&:processes).max) do |pair|
          report.native(pair.native)
          pair.benches.each { |bench| turn(bench, warm_up(bench.clients.size)) }
          rows = shapes.flat_map { |shape| rows(shape, pair.rounds(rounds, bar) { |bench| turn(bench, shape) }) }
          report.rows("#{Settings.server}, #{transport}, #{protocol}, #{tls ? "TLS" : "plain"}", rows)
        end
      end
    end

    # A virtual machine that compiles needs a longer one than MRI.
    def warm_up(processes)
      Settings.server_interpreter && !Settings.smoke? ? Shape.new(processes, 50, 50) : Shape.new(processes, 2, 2)
    end

    def options(tls, transport, protocol, paths)
      paths.merge("tls" => tls, "transport" => transport, "protocol" => protocol, "server" => Settings.server)
    end

    # One run of one side. Every client has to come through: a failed call makes the figures worthless.
    # @return [Hash] seconds
    def turn(bench, shape)
      started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      command = { "do" => "connections", "connections" => shape.clients, "calls" => shape.calls }
      results, cpu, = bench.server_counters { Child.all(bench.clients.first(shape.processes), command) }
      seconds = Process.clock_gettime(Process::CLOCK_MONOTONIC) - started
      failed = results.find { |result| result["errors"].positive? }
      raise Child::Failed, "#{bench.side}: #{failed["errors"]} connections failed: #{failed["error"]}" if failed

      calls = results.sum { |result| result["calls"] }
      { wall: seconds, call: results.sum { |result| result["call_seconds"] } / calls,
        connection: results.sum { |result| result["seconds"] } / shape.connections, cpu: cpu / calls }
    end

    def rows(shape, results)
      measures = [["the whole run", "s", :wall], ["a call", "us", :call], ["server CPU a call", "us", :cpu]]
      measures << ["connect, call, close", "us", :connection] if shape.calls == 1
      measures.map do |measure, unit, key|
        sides = results.transform_values { |rounds| rounds.map { |round| round.fetch(key) } }
        Row.new(shape.to_s, measure, unit, stock: sides[:stock], ours: sides[:ours])
      end
    end

    # The figures of benchmark:rpc, :tls and :connections, in short.
    def one_connection(paths, report, bar)
      rows = []
      base = options(false, Settings.transports.first, Settings.protocols.first, paths)
      Pair.open(base, core: Settings.core) do |pair|
        work = Calls.new(pair, rounds: short_rounds, calls: Settings.smoke? ? 20 : SHORT_CALLS, goals: Calls::GOALS)
        rows.concat(work.rows("echo", "echo", bar)).concat(work.rows("batch", "batch of 23 kB", bar))
        rows.concat(Connections.rows(pair, short_rounds, Settings.smoke? ? 5 : 200, bar))
      end
      Pair.open(base.merge("tls" => true), core: Settings.core) do |pair|
        work = Calls.new(pair, rounds: short_rounds, calls: Settings.smoke? ? 20 : SHORT_CALLS, goals: Calls::TLS_GOALS)
        rows.concat(work.rows("echo", "echo over TLS", bar))
      end
      report.rows("One connection, one core, #{base["transport"]}, #{base["protocol"]}", rows)
    end

    # How to run the experiment at its own size.
    def full_commands
      return [] if given?

      FULL.map do |shape|
        sizes = SIZES.zip(shape.to_a).map { |name, number| "#{name}=#{number}" }
        "At full size: #{sizes.join(" ")} bundle exec rake benchmark"
      end
    end
  end
end
