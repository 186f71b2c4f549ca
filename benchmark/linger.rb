# frozen_string_literal: true

require_relative "support/bench"
require_relative "support/progress"
require_relative "support/report"

module ThriftBenchmark
  # rake benchmark:linger: processes x connections with one call each; how many sockets does that leave in TIME_WAIT?
  # Counted for the server's port alone, on the machine of both ends.
  module Linger
    # As in include/net/tcp_states.h.
    TIME_WAIT = "06"
    VARIANTS = { ours: "ours", linger_off: "ours, THRIFT_NATIVE_LINGER=0", stock: "stock" }.freeze
    HEADINGS = ["clients", "connections", "failed", "in TIME_WAIT", "seconds"].freeze

    module_function

    def run
      abort "benchmark:linger reads /proc/net/tcp, which isn't here." unless File.readable?("/proc/net/tcp")
      sizes = { processes: Settings.integer("THRIFT_NUM_PROCESSES", 40, 2),
                clients: Settings.integer("THRIFT_NUM_CLIENTS", 1000, 10),
                calls: Settings.integer("THRIFT_NUM_CALLS", 1, 1) }
      report = Report.new("benchmark-linger", sizes)
      rows = Progress.over("linger", VARIANTS.size) do |bar|
        VARIANTS.keys.map { |side| row(side, sizes, report).tap { bar.increment } }
      end
      report.table("#{sizes.values.join(" x ")}, #{Settings.server}, sockets afterwards", HEADINGS, rows)
      report.finish
    end

    def row(side, sizes, report)
      options = { "transport" => Settings.transports.first, "protocol" => Settings.protocols.first,
                  "server" => Settings.server }
      bench = Bench.new(side, options, clients: sizes[:processes])
      report.native(bench.server.native) unless side == :stock
      command = { "do" => "connections", "connections" => sizes[:clients], "calls" => sizes[:calls] }
      started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      results = Child.all(bench.clients, command)
      seconds = Process.clock_gettime(Process::CLOCK_MONOTONIC) - started
      [VARIANTS.fetch(side), sizes[:processes] * sizes[:clients], results.sum { |result| result["errors"] },
       time_wait(bench.port), seconds.round(1)]
    ensure
      bench&.stop
    end

    # @return [Integer] sockets in TIME_WAIT with this port on either end
    def time_wait(port)
      suffix = format(":%04X", port)
      %w[/proc/net/tcp /proc/net/tcp6].select { |path| File.readable?(path) }.sum do |path|
        File.foreach(path).count do |line|
          _, local, remote, state = line.split
          state == TIME_WAIT && (local.end_with?(suffix) || remote.end_with?(suffix))
        end
      end
    end
  end
end
