# frozen_string_literal: true

require_relative "../support/child"
require_relative "../support/settings"

module ThriftBenchmark
  module Codec
    # The stock gem, alone on its load path, and ours; both have written and read everything alike before they are timed.
    class Pair
      SIDES = %i[stock ours].freeze

      # @param works [Array<String>] see CodecProgram
      # @param protocols [Array<String>]
      def initialize(works, protocols)
        @children = SIDES.map do |side|
          [side, Child.new("codec", side, { "plain" => side == :stock }, core: nil).ready]
        end.to_h
        @keys = protocols.product(works)
        @checks = @keys.map { |protocol, work| [[protocol, work], compare(protocol, work)] }.to_h
        @times = Hash.new { |times, key| times[key] = [] }
      end

      # @return [Hash] what our side says of itself
      def native
        @children.fetch(:ours).native
      end

      # @return [Hash{String => String}] digests of the shapes' plain values
      def export(directory, shapes)
        @children.fetch(:stock).ask("do" => "export", "directory" => directory, "shapes" => shapes)
      end

      # @return [Integer] how often the bar is stepped in a round
      def steps
        @keys.size * 2
      end

      # One loop of everything on both sides; which side goes first changes from round to round.
      def round(number, seconds, bar)
        sides = number.even? ? SIDES : SIDES.reverse
        @keys.product(%w[write read]).each do |(protocol, work), direction|
          sides.each do |side|
            answer = @children.fetch(side).ask("do" => "time", "protocol" => protocol, "work" => work,
                                               "direction" => direction, "seconds" => seconds)
            @times[[side, protocol, work, direction]] << answer.fetch("cpu")
          end
          bar.increment
        end
      end

      # @return [Array<Float>] seconds an operation, by round
      def times(*key)
        @times.fetch(key)
      end

      # @return [Hash] see CodecProgram
      def check(side, protocol, work)
        @checks.fetch([protocol, work]).fetch(side)
      end

      private

      # A benchmark of wrong results is worth nothing.
      def compare(protocol, work)
        found = @children.transform_values { |child|
          child.ask("do" => "check", "protocol" => protocol, "work" => work)
        }
        same = found.values.map { |check| check.values_at("bytes", "size", "sent", "read") }.uniq.size == 1
        return found if same && found[:stock]["sent"] == found[:stock]["read"]

        raise Child::Failed, "#{work}, #{protocol}: the results differ: #{found.inspect}"
      end
    end
  end
end
