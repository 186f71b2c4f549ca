# frozen_string_literal: true

require_relative "support/calls"
require_relative "support/certificate"
require_relative "support/progress"
require_relative "support/report"

module ThriftBenchmark
  # rake benchmark:tls: calls over TLS, and handshakes of several clients at once.
  module Tls
    HANDSHAKE_GOAL = 1.5

    module_function

    def run
      rounds = Settings.integer("BENCHMARK_ROUNDS", 7, 1)
      calls = Settings.integer("THRIFT_NUM_CALLS", 3000, 50)
      clients = Settings.integer("THRIFT_NUM_PROCESSES", 8, 2)
      bits = Settings.integer("BENCHMARK_RSA_BITS", 4096, 2048)
      seconds = Settings.seconds("BENCHMARK_SECONDS", 1.5, 0.2)
      report = Report.new("benchmark-tls", "rounds" => rounds, "calls" => calls, "clients" => clients, "bits" => bits,
                                           "seconds" => seconds)
      Progress.over("tls", 2 * Calls.steps(rounds)) do |bar|
        echo(rounds, calls, report, bar)
        handshakes(rounds, clients, bits, seconds, report, bar)
      end
      report.finish
    end

    def options(paths)
      paths.merge("tls" => true, "transport" => Settings.transports.first, "protocol" => Settings.protocols.first,
                  "server" => Settings.server)
    end

    def echo(rounds, calls, report, bar)
      Certificate.with(:ec) do |paths|
        Pair.open(options(paths), core: Settings.core) do |pair|
          report.native(pair.native)
          work = Calls.new(pair, rounds: rounds, calls: calls, goals: Calls::TLS_GOALS)
          report.rows("One connection over TLS, EC P-256", work.rows("echo", "echo", bar))
        end
      end
    end

    # The clients take turns with the server on all cores: with the stock gem the server can use only one.
    def handshakes(rounds, clients, bits, seconds, report, bar)
      Certificate.with(:rsa, bits: bits) do |paths|
        Pair.open(options(paths), clients: clients, program: "handshakes", check: false) do |pair|
          pair.benches.each { |bench| turn(bench, 0.1) }
          results = pair.rounds(rounds, bar) { |bench| turn(bench, seconds) }
          report.rows("Full handshakes, #{clients} clients, RSA-#{bits} server key", handshake_rows(results))
        end
      end
    end

    def turn(bench, seconds)
      results, cpu, = bench.server_counters { Child.all(bench.clients, "seconds" => seconds) }
      failed = results.find { |result| result["errors"].positive? }
      raise Child::Failed, "#{bench.side}: #{failed["errors"]} handshakes failed: #{failed["error"]}" if failed

      shaken = results.sum { |result| result["handshakes"] }
      { rate: shaken / seconds, cpu: cpu / [shaken, 1].max }
    end

    def handshake_rows(results)
      rate = results.transform_values { |rounds| rounds.map { |round| round[:rate] } }
      cpu = results.transform_values { |rounds| rounds.map { |round| round[:cpu] } }
      [Row.new("handshakes", "rate", "a second", better: :more, goal: HANDSHAKE_GOAL, **rate),
       Row.new("handshakes", "server CPU", "ms", **cpu)]
    end
  end
end
