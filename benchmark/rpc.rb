# frozen_string_literal: true

require_relative "support/calls"
require_relative "support/progress"
require_relative "support/report"

module ThriftBenchmark
  # rake benchmark:rpc
  module Rpc
    module_function

    def run
      rounds = Settings.integer("BENCHMARK_ROUNDS", 9, 1)
      calls = Settings.integer("THRIFT_NUM_CALLS", 3000, 50)
      report = Report.new("benchmark-rpc", "rounds" => rounds, "calls" => calls)
      report.remark("Processes could not be pinned to one core.") unless Child.taskset?
      kinds = Settings.transports.product(Settings.protocols)
      Progress.over("rpc", kinds.size * Service::METHODS.size * Calls.steps(rounds)) do |bar|
        kinds.each { |transport, protocol| measure(transport, protocol, rounds, calls, report, bar) }
      end
      report.finish
    end

    def measure(transport, protocol, rounds, calls, report, bar)
      options = { "transport" => transport, "protocol" => protocol, "server" => Settings.server }
      Pair.open(options, core: Settings.core) do |pair|
        report.native(pair.native)
        goals = transport == "framed" && protocol == "accelerated" ? Calls::GOALS : {}
        work = Calls.new(pair, rounds: rounds, calls: calls, goals: goals)
        rows = Service::METHODS.flat_map { |method| work.rows(method, method, bar) }
        report.rows("One connection, #{Settings.server}, #{transport}, #{protocol}", rows)
      end
    end
  end
end
