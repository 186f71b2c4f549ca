# frozen_string_literal: true

require "rbconfig"
require_relative "../support/child"

module ThriftBenchmark
  module Codec
    # Other libraries, each in a process of its own. One that isn't here has its column all the same.
    class Peers
      ROOT = File.expand_path("../peers", __dir__)
      NAMES = { "json" => "JSON", "msgpack" => "MessagePack", "sparsam" => "sparsam", "python" => "Python",
                "protobuf" => "protobuf" }.freeze
      # Writes messages of its own, not Ruby's objects.
      READ_ONLY = %w[protobuf].freeze
      MISSING = "not installed"

      # @param directory [String] has what `Pair#export` wrote
      # @param digests [Hash{String => String}] what reading each shape must give
      def initialize(directory, shapes, digests)
        @directory = directory
        @shapes = shapes
        @missing = {}
        @versions = {}
        @wrong = {}
        @times = Hash.new { |times, key| times[key] = [] }
        @children = NAMES.keys.map { |name| [name, start(name)] }.to_h.compact
        @children.each { |name, child| check(name, child, digests) }
        @keys = @children.keys.product(shapes).reject { |key| @wrong.key?(key) }
      end

      def steps
        @keys.size
      end

      def round(seconds, bar)
        @keys.each do |name, shape|
          %w[write read].each do |direction|
            command = { "do" => "time", "shape" => shape, "direction" => direction, "seconds" => seconds }
            @times[[name, shape, direction]] << @children.fetch(name).ask(command).fetch("cpu")
          end
          bar.increment
        end
      end

      def headings
        ["work", "", "ours", *NAMES.values, ""]
      end

      # @yieldreturn [Array<Float>] our times for a shape and a direction
      def cells
        @shapes.product(%w[write read]).map do |shape, direction|
          ours = yield(shape, direction)
          others = NAMES.keys.map { |name| cell(name, shape, direction) }
          [shape, direction, microseconds(ours), *others, ours.size < 3 ? "" : place(ours.min, shape, direction)]
        end
      end

      # @return [Array<String>] what the table can't show
      def remarks
        @versions.map { |name, version| "#{NAMES[name]}: #{version}" } +
          @missing.map { |name, reason| "#{NAMES[name]} is not installed (rake benchmark:peers): #{reason}" } +
          @wrong.map { |(name, shape), reason| "#{NAMES[name]}, #{shape}, was not measured: #{reason}" }
      end

      private

      # @return [Child, nil] ready to be told what to do
      def start(name)
        commands(name).each do |command, variables|
          child = Child.new("peer #{name}", :peer, { "peer" => name }, command: command, variables: variables)
          greeting = child.answer
          if greeting["version"]
            @versions[name] = greeting["version"]
            @missing.delete(name)
            return child
          end
          child.stop
          @missing[name] ||= greeting["missing"]
        rescue SystemCallError => e
          @missing[name] ||= e.message
        end
        nil
      end

      # Python's Thrift belongs to the system's Python, which needn't be the first one on the path.
      def interpreters
        given = ENV.fetch("BENCHMARK_PYTHON", "")
        given.empty? ? %w[python3 /usr/bin/python3] : [given]
      end

      # @return [Array] of command and environment, to be tried in turns
      def commands(name)
        return interpreters.map { |python| [[python, File.join(ROOT, "python/peer.py")], {}] } if name == "python"

        gemfile = File.join(ROOT, name, "Gemfile")
        variables = File.file?(gemfile) ? { "BUNDLE_GEMFILE" => gemfile,
                                            "BUNDLE_PATH" => File.join(ROOT, "vendor") } : {}
        [[[*RbConfig.ruby, File.expand_path("../programs/peer.rb", __dir__)], variables]]
      end

      def check(name, child, digests)
        child.ask("do" => "check", "directory" => @directory).each do |shape, found|
          next if found["digest"] == digests.fetch(shape)

          @wrong[[name, shape]] = found["error"] || "what it reads isn't what was written"
        end
      end

      def cell(name, shape, direction)
        return MISSING if @missing.key?(name)
        return "wrong" if @wrong.key?([name, shape])

        text = microseconds(@times.fetch([name, shape, direction]))
        direction == "write" && READ_ONLY.include?(name) ? "(#{text})" : text
      end

      def microseconds(times)
        number = times.min * 1e6
        format("%.*f", number < 10 ? 2 : (number < 100 ? 1 : 0), number)
      end

      # Against the fastest of those that were measured and count.
      def place(ours, shape, direction)
        counting = @children.keys - (direction == "write" ? READ_ONLY : [])
        measured = counting.map { |name| [name, @times.fetch([name, shape, direction], nil)] }.to_h.compact
        return "" if measured.empty?

        name, best = measured.transform_values(&:min).min_by(&:last)
        ratio = best / ours
        ratio >= 1 ? format("first, %.2fx before %s", ratio,
                            NAMES[name]) : format("%.2fx behind %s", 1 / ratio, NAMES[name])
      end
    end
  end
end
