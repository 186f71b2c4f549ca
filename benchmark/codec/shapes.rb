# frozen_string_literal: true

require_relative "../../spec/fixtures/load"
require_relative "plain"

lambda do
  verbose = $VERBOSE
  $VERBOSE = nil # the compiler's code isn't clean under -w
  require_relative "gen-rb/codec_types"
ensure
  $VERBOSE = verbose
end.call

module ThriftBenchmark
  # The objects of `rake benchmark:codec`; always equal ones.
  module Shapes
    NAMES = %w[small item batch nums tree words wide blob].freeze

    TYPES = {
      Thrift::Types::BOOL => "bool", Thrift::Types::BYTE => "byte", Thrift::Types::I16 => "i16",
      Thrift::Types::I32 => "i32", Thrift::Types::I64 => "i64", Thrift::Types::DOUBLE => "double",
      Thrift::Types::STRING => "string", Thrift::Types::LIST => "list", Thrift::Types::SET => "set",
      Thrift::Types::MAP => "map", Thrift::Types::STRUCT => "struct"
    }.freeze

    module_function

    def value(name)
      case name
      when "small" then Fixtures.small
      when "item" then Fixtures.item
      when "batch" then batch
      when "nums" then Fixtures.nums
      when "tree" then tree(40)
      when "words" then CodecShapes::Words.new(words: Array.new(10_000) { |i|
        i % 10 == 9 ? "caf\u00e9 #{i}" : "word #{i}"
      })
      when "wide" then wide
      when "blob" then CodecShapes::Blob.new(data: Fixtures.bytes(1_000_000))
      else raise ArgumentError, "no shape #{name}"
      end
    end

    def batch
      weights = Array.new(50) { |i| [i * 1_000_003, i / 7.0] }.to_h
      Fixtures::Batch.new(items: Array.new(100) { |i|
        Fixtures.item(i + 1)
      }, weights: weights, note: Fixtures.bytes(100))
    end

    # Each level has the next one between two leaves.
    def tree(levels)
      return leaf(1) if levels == 1

      children = [leaf(levels * 10), tree(levels - 1), leaf((levels * 10) + 1)]
      CodecShapes::Node.new(key: levels, label: "level #{levels}", children: children)
    end

    def leaf(key)
      CodecShapes::Node.new(key: key, label: "leaf #{key}")
    end

    def wide
      CodecShapes::Wide.new(f1: 7, f14: "fourteen", f27: 1 << 40, f40: 0.75, f60: [1, 2, 3])
    end

    # What the peers must know of these classes: fields by class, and the class of each shape.
    # @return [Hash] of what JSON knows
    def schema(names)
      classes = {}
      shapes = names.map { |name| [name, add_class(classes, value(name).class)] }.to_h
      { "classes" => classes, "shapes" => shapes }
    end

    def add_class(classes, klass)
      name = klass.name.split("::").last
      return name if classes.key?(name)

      classes[name] = fields = []
      klass::FIELDS.each do |id, field|
        own = { "id" => id, "name" => field[:name], "optional" => field[:optional] ? true : false }
        fields << own.merge(type(classes, field))
      end
      name
    end

    def type(classes, field)
      described = { "type" => TYPES.fetch(field[:type]) }
      described["binary"] = true if field[:binary]
      described["class"] = add_class(classes, field[:class]) if field[:class]
      %i[element key value].each { |part| described[part.to_s] = type(classes, field[part]) if field[part] }
      described
    end

    # @return [Object] the same without Thrift's classes, see Plain
    def plain(value)
      case value
      when Set then value.map { |element| plain(element) }.to_set
      when Array then value.map { |element| plain(element) }
      when Hash then value.map { |key, element| [plain(key), plain(element)] }.to_h
      when Thrift::Struct_Union then plain_struct(value)
      else value
      end
    end

    def plain_struct(value)
      names = value.class::FIELDS.values.map { |field| field[:name] }
      names.map { |name| [name, plain(value.instance_variable_get("@#{name}"))] }.to_h.compact
    end

    # How many objects somebody has who has `value`: itself and all that it is made of.
    def objects(value, seen = {}.compare_by_identity)
      return 0 if seen.key?(value) || ObjectSpace.memsize_of(value).zero?

      seen[value] = true
      parts = value.instance_variables.map { |name| value.instance_variable_get(name) }
      parts.concat(value) if value.is_a?(Array)
      parts.concat(value.to_a.flatten(1)) if value.is_a?(Hash)
      parts.concat(value.to_a) if value.is_a?(Set)
      1 + parts.sum { |part| objects(part, seen) }
    end
  end
end
