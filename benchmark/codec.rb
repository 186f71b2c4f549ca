# frozen_string_literal: true

require "tmpdir"
require_relative "codec/pair"
require_relative "codec/peers"
require_relative "support/progress"
require_relative "support/report"
require_relative "support/row"

module ThriftBenchmark
  # rake benchmark:codec: CPU time of writing and reading whole structs in memory.
  module Codec
    SHAPES = %w[small item batch nums tree words wide blob].freeze
    PROTOCOLS = %w[accelerated compact binary].freeze
    TITLES = { "accelerated" => "BinaryProtocolAccelerated", "compact" => "CompactProtocol",
               "binary" => "BinaryProtocol, pure Ruby in the stock gem" }.freeze
    DIRECTIONS = %w[write read].freeze

    # Wanted ratios to write and to read, accelerated and compact. Nothing may be slower than with the stock gem.
    GOALS = { "batch" => [28.0, 20.0], "item" => [25.0, 18.0], "nums" => [22.0, 30.0],
              "small, anew" => [5.0, 5.0] }.freeze

    module_function

    def run
      rounds = Settings.integer("BENCHMARK_ROUNDS", 20, 1)
      seconds = Settings.seconds("BENCHMARK_SECONDS", 0.004, 0.0005)
      shapes = Settings.list("BENCHMARK_SHAPES", SHAPES, SHAPES)
      protocols = Settings.list("THRIFT_PROTOCOL", PROTOCOLS, PROTOCOLS)
      report = Report.new("benchmark-codec", "rounds" => rounds, "seconds" => seconds, "shapes" => shapes)
      Dir.mktmpdir("thrift-codec") do |directory|
        pair = Pair.new(works(shapes), protocols | (peers? ? ["accelerated"] : []))
        report.native(pair.native)
        peers = peers? ? Peers.new(directory, shapes, pair.export(directory, shapes)) : nil
        measure(pair, peers, rounds, seconds)
        tables(report, pair, peers, protocols, shapes)
      end
      report.finish
    end

    def peers?
      ENV["BENCHMARK_PEERS"] != "0"
    end

    # "small" is so small that making a protocol and a transport costs more than using them: both ways are shown.
    def works(shapes)
      shapes.flat_map { |shape| shape == "small" ? ["small, anew", "small"] : [shape] }
    end

    # Every loop has its turn before any has the next one, so that each is spread over the whole time.
    def measure(pair, peers, rounds, seconds)
      Progress.over("codec", rounds * (pair.steps + (peers ? peers.steps : 0))) do |bar|
        rounds.times do |round|
          pair.round(round, seconds, bar)
          peers&.round(seconds, bar)
        end
      end
    end

    def tables(report, pair, peers, protocols, shapes)
      protocols.each { |protocol| report.rows(TITLES.fetch(protocol), rows(pair, protocol, works(shapes))) }
      protocols.each { |protocol| objects(report, pair, protocol, works(shapes)) }
      return report.remark("Nothing else was measured (BENCHMARK_PEERS=0).") unless peers

      peers.remarks.each { |text| report.remark(text) }
      report.table("us an operation, others on equal objects (ours: accelerated, reused)", peers.headings,
                   peers.cells { |shape, direction| pair.times(:ours, "accelerated", shape, direction) })
    end

    def rows(pair, protocol, works)
      works.product(DIRECTIONS).map do |work, direction|
        wanted = protocol == "binary" ? nil : GOALS[work]
        goal = wanted ? wanted[DIRECTIONS.index(direction)] : 1.0
        stock, ours = %i[stock ours].map { |side| pair.times(side, protocol, work, direction) }
        BestRow.new(work, direction, "us", stock: stock, ours: ours, goal: goal)
      end
    end

    # What is allocated to read, beside what the caller gets for it.
    def objects(report, pair, protocol, works)
      cells = works.map do |work|
        stock, ours = %i[stock ours].map { |side| pair.check(side, protocol, work) }
        counts = [stock["write_objects"], ours["write_objects"], stock["read_objects"], ours["read_objects"]]
        [work, *counts.map { |count| format("%.1f", count) }, ours["gets"].to_s, verdict(work, ours)]
      end
      headings = ["work", "write, stock", "write, ours", "read, stock", "read, ours", "the caller gets", "read"]
      report.table("Objects an operation, #{protocol}", headings, cells)
    end

    # A protocol and a transport made anew, and what they are made of, are the caller's, too.
    def verdict(work, ours)
      allowed = ours["gets"] + (work.end_with?("anew") ? ours["makes"] : 0)
      ours["read_objects"] <= allowed ? "met" : format("missed by %.1f", ours["read_objects"] - allowed)
    end
  end
end
