# frozen_string_literal: true

require "digest"
require "set"

module ThriftBenchmark
  # Values without Thrift's classes: a struct is a Hash of the fields that are set, by name. Peers start from these and
  # are compared by their digests; peers/python/peer.py makes the same digest.
  module Plain
    module_function

    def digest(value)
      Digest::SHA256.hexdigest(describe(value))
    end

    def describe(value)
      case value
      when Set then "(#{value.map { |element| describe(element) }.sort.join(",")})"
      when Array then "[#{value.map { |element| describe(element) }.join(",")}]"
      when Hash then "{#{value.map { |key, element| "#{describe(key)}:#{describe(element)}" }.sort.join(",")}}"
      when String then "s#{value.unpack1("H*")}"
      when Float then "d#{[value].pack("G").unpack1("H*")}"
      when Integer then "i#{value}"
      when true then "t"
      when false then "f"
      else raise ArgumentError, "unexpected #{value.class}"
      end
    end

    # Changes a plain value into the form that a peer can write.
    # @param type [Hash] see Shapes.schema
    # @yieldparam value [Object] nothing but Sets and binary Strings: the block's value takes their place
    def change(value, &block)
      case value
      when Set then yield(value.map { |element| change(element, &block) }.to_set)
      when Array then value.map { |element| change(element, &block) }
      when Hash then value.map { |key, element| [key, change(element, &block)] }.to_h
      when String then value.encoding == Encoding::BINARY ? yield(value) : value
      else value
      end
    end

    # Makes a plain value of what a peer read.
    # @param schema [Hash] see Shapes.schema
    # @yieldparam value [String] the peer's form of a binary field
    def restore(schema, type, value, &block)
      case type.fetch("type")
      when "struct" then restore_struct(schema, type.fetch("class"), value, &block)
      when "list" then value.to_a.map { |element| restore(schema, type["element"], element, &block) }
      when "set" then value.to_a.map { |element| restore(schema, type["element"], element, &block) }.to_set
      when "map"
        value.to_h.map { |pair| %w[key value].zip(pair).map { |k, part| restore(schema, type[k], part, &block) } }.to_h
      when "byte", "i16", "i32", "i64" then Integer(value) # the keys of a map are Strings in JSON
      when "string" then type["binary"] && block ? yield(value) : value
      else value
      end
    end

    def restore_struct(schema, name, value, &block)
      schema.fetch("classes").fetch(name).each_with_object({}) do |field, fields|
        found = member(value, field["name"])
        fields[field["name"]] = restore(schema, field, found, &block) unless found.nil?
      end
    end

    def member(value, name)
      return value.public_send(name) unless value.is_a?(Hash)

      value.key?(name) ? value[name] : value[name.to_sym]
    end
  end
end
