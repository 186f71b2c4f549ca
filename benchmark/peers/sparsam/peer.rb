# frozen_string_literal: true

require "set"
require "sparsam"

module ThriftBenchmark
  # Another Thrift for Ruby, over the C++ library, here with the binary protocol: the bytes are the same.
  class SparsamPeer < Peer
    Classes = Module.new

    def version
      "sparsam #{Gem.loaded_specs.fetch("sparsam").version}"
    end

    def learn(schema)
      super
      @classes = schema.fetch("classes").keys.map { |name| [name, Class.new(Sparsam::Struct)] }.to_h
      @classes.each { |name, klass| Classes.const_set(name, klass) }
      schema.fetch("classes").each do |name, fields|
        @classes[name].const_set(:FIELDS, fields.map { |field| [field["id"], field(field)] }.to_h)
      end
      # A class is read by all that refer to it, so the initialization comes last.
      @classes.each_value { |klass| klass.class_eval { init_thrift_struct(self) } }
    end

    def value(name, _plain, wire)
      read(name, wire).tap do |read|
        raise "the bytes are not the same" unless write(name, read).b == wire
      end
    end

    def write(_name, value)
      value.serialize(Sparsam::BinaryProtocol)
    end

    def read(name, bytes)
      Sparsam::Deserializer.deserialize(klass(name), bytes, Sparsam::BinaryProtocol)
    end

    def repeat_write(_name, value)
      lambda do |count|
        while count.positive?
          value.serialize(Sparsam::BinaryProtocol)
          count -= 1
        end
      end
    end

    def repeat_read(name, bytes)
      klass = klass(name)
      lambda do |count|
        while count.positive?
          Sparsam::Deserializer.deserialize(klass, bytes, Sparsam::BinaryProtocol)
          count -= 1
        end
      end
    end

    private

    def klass(name)
      @classes.fetch(@schema.fetch("shapes").fetch(name))
    end

    def field(field)
      { name: field["name"], optional: field["optional"] || nil }.merge(type(field)).compact
    end

    def type(described)
      own = { type: Sparsam::Types.const_get(described["type"].upcase) }
      own[:binary] = true if described["binary"]
      own[:class] = @classes.fetch(described["class"]) if described["class"]
      %w[element key value].each { |part| own[part.to_sym] = type(described[part]) if described[part] }
      own
    end
  end

  PEER = SparsamPeer
end
