# frozen_string_literal: true

# What the fuzzer's bytes are for: the first one says how, the rest is read. Also replayed by spec/fuzz_spec.rb.
require "set"
require "thrift"
require_relative "../spec/parity/describe"

module Fuzz
  TYPES = Thrift::Types
  CORPUS = File.join(__dir__, "corpus")
  PROTOCOLS = [Thrift::BinaryProtocolAccelerated, Thrift::CompactProtocol, Thrift::BinaryProtocol].freeze
  # What may be said of bytes that make no sense.
  REFUSALS = [Thrift::Exception, EOFError].freeze

  # A few bytes at a time.
  class Dribble < Thrift::BaseTransport
    def initialize(bytes)
      @bytes = bytes
      @at = 0
    end

    def open?
      true
    end

    def read(size)
      raise Thrift::TransportException.new(Thrift::TransportException::END_OF_FILE, "the end") if @at >= @bytes.bytesize

      @bytes.byteslice(@at, [size, 5].min).tap { |part| @at += part.bytesize }
    end
  end

  module Fields
    module_function

    def plain
      {
        1 => { type: TYPES::BOOL, name: "f1" }, 2 => { type: TYPES::BYTE, name: "f2" },
        3 => { type: TYPES::I16, name: "f3" }, 4 => { type: TYPES::I32, name: "f4" },
        5 => { type: TYPES::I64, name: "f5", default: 5 }, 6 => { type: TYPES::DOUBLE, name: "f6" },
        7 => { type: TYPES::STRING, name: "f7" }, 8 => { type: TYPES::STRING, name: "f8", binary: true }
      }
    end

    def containers(klass)
      inner = { type: TYPES::STRUCT, class: klass }
      {
        9 => { type: TYPES::LIST, name: "f9", element: { type: TYPES::I64 } },
        10 => { type: TYPES::SET, name: "f10", element: { type: TYPES::STRING } },
        11 => { type: TYPES::MAP, name: "f11", key: { type: TYPES::STRING }, value: { type: TYPES::DOUBLE } },
        12 => inner.merge(name: "f12"),
        13 => { type: TYPES::LIST, name: "f13", element: inner },
        14 => { type: TYPES::MAP, name: "f14", key: inner,
                value: { type: TYPES::LIST, element: { type: TYPES::BOOL } } },
        15 => { type: TYPES::SET, name: "f15", element: { type: TYPES::SET, element: { type: TYPES::I32 } } },
        300 => { type: TYPES::I32, name: "f300" },
        -4 => { type: TYPES::LIST, name: "f_4", element: { type: TYPES::STRING, binary: true } }
      }
    end
  end

  class Tree
    include Thrift::Struct
    include Thrift::Struct_Union
    FIELDS = Fields.plain
    FIELDS.update(Fields.containers(self))

    def struct_fields
      FIELDS
    end

    def validate; end
    Thrift::Struct.generate_accessors(self)
  end

  class Choice < Thrift::Union
    include Thrift::Struct_Union
    FIELDS = { 1 => { type: TYPES::I32, name: "a" }, 2 => { type: TYPES::STRUCT, name: "b", class: Tree } }.freeze

    def struct_fields
      FIELDS
    end

    def validate; end
    Thrift::Union.generate_accessors(self)
  end

  class << self
    # @param bytes [String]
    # @return [String] what came of it, the same in every process
    def outcome(bytes)
      how = bytes.getbyte(0) || 0
      protocol = PROTOCOLS[how % 3].new(transport(how / 3 % 3, bytes.byteslice(1..) || ""))
      work = how / 9 % 4
      work == 3 ? skip(protocol) : read(protocol, work == 2 ? Choice : Tree)
    rescue *REFUSALS => e
      "#{e.class} #{e.message}"
    end

    private

    def transport(kind, bytes)
      case kind
      when 0 then Thrift::MemoryBufferTransport.new(bytes.dup)
      when 1 then Thrift::BufferedTransport.new(Dribble.new(bytes))
      else Thrift::FramedTransport.new(Dribble.new([bytes.bytesize].pack("N") + bytes))
      end
    end

    # What was read can be written, and what comes of that can be read and is written alike.
    def read(protocol, klass)
      value = klass.new
      value.read(protocol)
      check(klass, value) unless klass == Choice && value.get_set_field.nil?
      Describe.call(value)
    end

    def check(klass, value)
      bytes = written(value) or return
      again = Thrift::Deserializer.new.deserialize(klass.new, bytes)
      raise "it is written otherwise" unless Thrift::Serializer.new.serialize(again) == bytes
    end

    # A container of another type than FIELDS says is read as nil, which can't be written in a container.
    def written(value)
      Thrift::Serializer.new.serialize(value)
    rescue StandardError => e
      raise unless e.message.match?(/\bnil\b/)
    end

    def skip(protocol)
      protocol.skip(TYPES::STRUCT)
      "skipped"
    end
  end
end
