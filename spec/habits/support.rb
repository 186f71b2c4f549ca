# frozen_string_literal: true

# What the files beside this one use: each `habit` is something that a program may do, and its outcome is printed, as a
# line `label TAB outcome`. habits_spec.rb runs them with the thrift gem alone and with ours.
require "set"
version, = ARGV
gem "thrift", version
verbose, $VERBOSE = $VERBOSE, nil
require "thrift"
require "thrift/native" if ENV["HABITS_NATIVE"] == "1"
$VERBOSE = verbose
abort "not ours" if ENV["HABITS_NATIVE"] == "1" && Thrift::Native.status[Thrift::Struct]&.state != :native

TYPES = Thrift::Types
PROTOCOLS = { accelerated: Thrift::BinaryProtocolAccelerated, binary: Thrift::BinaryProtocol,
              compact: Thrift::CompactProtocol }.freeze

# A class as the Thrift compiler writes it, but for its fields; the block is the rest of its body.
def struct_class(fields, superclass = Object, &body)
  Class.new(superclass) do
    include Thrift::Struct
    include Thrift::Struct_Union
    const_set(:FIELDS, fields)
    class_eval("def struct_fields; self.class::FIELDS; end; def validate; end", __FILE__, __LINE__)
    class_eval(&body) if body
    Thrift::Struct.generate_accessors(self)
  end
end

def union_class(fields, &body)
  Class.new(Thrift::Union) do
    include Thrift::Struct_Union
    const_set(:FIELDS, fields)
    class_eval("def struct_fields; self.class::FIELDS; end; def validate; end", __FILE__, __LINE__)
    class_eval(&body) if body
    Thrift::Union.generate_accessors(self)
  end
end

def field(type, name, **rest)
  { type: TYPES.const_get(type.to_s.upcase), name: name, **rest }
end

def element(type, **rest)
  { type: TYPES.const_get(type.to_s.upcase), **rest }
end

# The bytes of a struct.
def bytes_of(struct, protocol = :accelerated)
  transport = Thrift::MemoryBufferTransport.new(+"".b)
  struct.write(PROTOCOLS.fetch(protocol).new(transport))
  transport.read(transport.available)
end

# Reads into a new object, or into the one given.
def read(target, bytes, protocol = :accelerated)
  object = target.is_a?(Class) ? target.new : target
  object.read(PROTOCOLS.fetch(protocol).new(Thrift::MemoryBufferTransport.new(bytes.b)))
  object
end

def plain(outcome)
  case outcome
  when String then outcome.encoding == Encoding::BINARY ? "bytes:#{outcome.unpack1("H*")}" : outcome.inspect
  when Array then "[#{outcome.map { |part| plain(part) }.join(", ")}]"
  else outcome.inspect
  end
end

def habit(label)
  outcome = begin
    plain(yield)
  rescue Exception => e # rubocop:disable Lint/RescueException -- SystemStackError too
    type = e.respond_to?(:type) ? " #{e.type}" : ""
    "#{e.class}#{type}: #{e.message.b[/.*/]}"
  end
  puts "#{label}\t#{outcome.gsub(/0x\h+/, "0x").gsub(/#<Class:0x>/, "a class")}"
  $stdout.flush
end
