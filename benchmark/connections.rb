# frozen_string_literal: true

require_relative "support/bench"
require_relative "support/progress"
require_relative "support/report"
require_relative "support/row"

module ThriftBenchmark
  # rake benchmark:connections: connect, one call, close, while the other workers of the pool are idle: what does a
  # connection cost the server?
  module Connections
    # 0.55 of the CPU that the stock gem takes.
    GOAL = 1 / 0.55

    module_function

    def run
      rounds = Settings.integer("BENCHMARK_ROUNDS", 9, 1)
      count = Settings.integer("THRIFT_NUM_CLIENTS", 500, 5)
      workers = Settings.integer("BENCHMARK_WORKERS", 20, 20)
      report = Report.new("benchmark-connections", "rounds" => rounds, "connections" => count, "workers" => workers)
      options = { "transport" => Settings.transports.first, "protocol" => Settings.protocols.first,
                  "server" => Settings.server, "workers" => workers }
      Progress.over("connections", rounds * Pair::SIDES.size) do |bar|
        Pair.open(options, core: Settings.core) do |pair|
          report.native(pair.native)
          report.rows("Connect, one call, close; #{workers} workers", rows(pair, rounds, count, bar))
        end
      end
      report.finish
    end

    # @return [Array<Row>]
    def rows(pair, rounds, count, bar)
      results = pair.rounds(rounds, bar) { |bench| round(bench, count) }
      [["server CPU", "us", :cpu, GOAL], ["time", "us", :time, nil]].map do |measure, unit, key, goal|
        sides = results.transform_values { |values| values.map { |value| value.fetch(key) } }
        Row.new("connection", measure, unit, stock: sides[:stock], ours: sides[:ours], goal: goal)
      end
    end

    def round(bench, count)
      command = { "do" => "connections", "connections" => count, "calls" => 1 }
      bench.client.ask(command.merge("connections" => [count / 10, 2].max))
      result, cpu, = bench.server_counters { bench.client.ask(command) }
      raise Child::Failed, "#{bench.side}: #{result["error"]}" if result["errors"].positive?

      { cpu: cpu / count, time: result["seconds"] / count }
    end
  end
end
