# frozen_string_literal: true

require_relative "bench"
require_relative "row"

module ThriftBenchmark
  # One connection, one call after the other, both ends on one core: the time and the cost of a call.
  class Calls
    # The smaller the method, the more calls of it.
    SHARES = { "echo" => 1, "item" => 2, "batch" => 25 }.freeze

    # Wanted ratios of p50 with framed transports and the accelerated binary protocol.
    GOALS = { "echo" => 2.0, "batch" => 1.8 }.freeze
    TLS_GOALS = { "echo" => 1.8 }.freeze

    # @param calls [Integer] of echo a round; the others are called less
    # @param goals [Hash{String => Float}] wanted ratio of p50 by method
    def initialize(pair, rounds:, calls:, goals: {})
      @pair = pair
      @rounds = rounds
      @calls = calls
      @goals = goals
    end

    # @return [Integer] how often the bar is stepped for each method
    def self.steps(rounds)
      rounds * Pair::SIDES.size
    end

    # @param work [String] what the rows are called
    # @return [Array<Row>]
    def rows(method, work, bar)
      count = [@calls / SHARES.fetch(method), 2].max
      results = @pair.rounds(@rounds, bar) { |bench| round(bench, method, count) }
      measures.map do |measure, unit, key|
        sides = results.transform_values { |rounds| rounds.map { |round| round.fetch(key) } }
        goal = @goals[method] if key == "p50"
        Row.new(work, measure, unit, stock: sides[:stock], ours: sides[:ours], goal: goal)
      end
    end

    private

    def measures
      [["p50", "us", "p50"], ["minimum", "us", "minimum"], ["server CPU a call", "us", "server_cpu"],
       ["objects a call, server", "", "server_objects"], ["objects a call, client", "", "client_objects"]]
    end

    def round(bench, method, count)
      client = bench.client
      client.ask("do" => "open", "method" => method, "warm_up" => [count / 10, 2].max)
      result, cpu, objects = bench.server_counters { client.ask("do" => "calls", "count" => count) }
      client.ask("do" => "close")
      { "p50" => result["p50"], "minimum" => result["minimum"], "server_cpu" => cpu / count,
        "server_objects" => objects.fdiv(count).round(1), "client_objects" => result["objects"].fdiv(count).round(1) }
    end
  end
end
