# frozen_string_literal: true

require "google/protobuf"
require "google/protobuf/descriptor_pb"

module ThriftBenchmark
  # Messages with the fields of the structs, syntax proto3. Reading is decoding and `to_h`: `decode` alone makes one Ruby
  # object, and each field only when it's asked for.
  class ProtobufPeer < Peer
    Descriptors = Google::Protobuf
    TYPES = { "bool" => :TYPE_BOOL, "byte" => :TYPE_INT32, "i16" => :TYPE_INT32, "i32" => :TYPE_INT32,
              "i64" => :TYPE_INT64, "double" => :TYPE_DOUBLE, "string" => :TYPE_STRING,
              "struct" => :TYPE_MESSAGE }.freeze

    def version
      "google-protobuf #{Gem.loaded_specs.fetch("google-protobuf").version}"
    end

    def learn(schema)
      super
      file = Descriptors::FileDescriptorProto.new(name: "codec.proto", package: "codec", syntax: "proto3")
      schema.fetch("classes").each { |name, fields| file.message_type << message(name, fields) }
      pool = Descriptors::DescriptorPool.new
      pool.add_serialized_file(Descriptors::FileDescriptorProto.encode(file))
      @classes = schema.fetch("shapes").transform_values { |name| pool.lookup("codec.#{name}").msgclass }
    end

    def value(name, plain, _wire)
      @classes.fetch(name).new(Plain.change(plain) { |part| part.is_a?(Set) ? part.to_a : part })
    end

    def write(name, value)
      @classes.fetch(name).encode(value)
    end

    def read(name, bytes)
      @classes.fetch(name).decode(bytes).to_h
    end

    # A field without elements and one that isn't set are the same.
    def plain(name, read)
      without_empty(super)
    end

    def repeat_write(name, value)
      klass = @classes.fetch(name)
      lambda do |count|
        while count.positive?
          klass.encode(value)
          count -= 1
        end
      end
    end

    def repeat_read(name, bytes)
      klass = @classes.fetch(name)
      lambda do |count|
        while count.positive?
          klass.decode(bytes).to_h
          count -= 1
        end
      end
    end

    private

    def without_empty(value)
      case value
      when Hash then value.transform_values { |part| without_empty(part) }.reject { |_, part| part == [] }
      when Array then value.map { |part| without_empty(part) }
      else value
      end
    end

    def message(name, fields)
      made = Descriptors::DescriptorProto.new(name: name)
      fields.each { |field| add_field(made, name, field) }
      made
    end

    def add_field(made, name, field)
      own = { name: field["name"], number: field["id"], label: :LABEL_OPTIONAL }
      case field["type"]
      when "list", "set" then own.update(type(field["element"]), label: :LABEL_REPEATED)
      when "map"
        entry = "#{field["name"].capitalize}Entry"
        made.nested_type << entry(entry, field)
        own.update(type: :TYPE_MESSAGE, type_name: ".codec.#{name}.#{entry}", label: :LABEL_REPEATED)
      else own.update(type(field)).update(presence(made, field))
      end
      made.field << Descriptors::FieldDescriptorProto.new(**own)
    end

    # Every field is "optional", as Thrift tells one that isn't set from false and 0, too. proto3 does that by a oneof of
    # its own for each field.
    def presence(made, field)
      return {} if field["type"] == "struct"

      made.oneof_decl << Descriptors::OneofDescriptorProto.new(name: "_#{field["name"]}")
      { proto3_optional: true, oneof_index: made.oneof_decl.size - 1 }
    end

    def entry(name, field)
      parts = %w[key value].each.with_index(1).map do |part, number|
        Descriptors::FieldDescriptorProto.new(name: part, number: number, label: :LABEL_OPTIONAL, **type(field[part]))
      end
      Descriptors::DescriptorProto.new(name: name, field: parts, options: { map_entry: true })
    end

    def type(described)
      return { type: :TYPE_BYTES } if described["binary"]

      named = described["class"] ? { type_name: ".codec.#{described["class"]}" } : {}
      { type: TYPES.fetch(described["type"]) }.merge(named)
    end
  end

  PEER = ProtobufPeer
end
