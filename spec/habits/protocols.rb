# frozen_string_literal: true

# Protocols and transports with methods of their own, called one by one, and mixed with whole structs.
require_relative "support"

SAMPLE = struct_class(1 => field(:i32, "a"), 2 => field(:string, "b"), 3 => field(:bool, "c"))
FULL = SAMPLE.new(a: 1, b: "q", c: true)
bytes_of(FULL)

def memory(bytes = +"".b)
  Thrift::MemoryBufferTransport.new(bytes)
end

def written(transport = memory)
  yield transport
  transport.read(transport.available)
end

PROTOCOLS.each do |name, klass|
  habit("#{name}: a subclass with a method of its own") do
    log = []
    subclass = Class.new(klass) { define_method(:write_i32) { |value| log << value; super(value) } }
    [written { |transport| FULL.write(subclass.new(transport)) }, log]
  end
  habit("#{name}: an object with a method of its own, writing") do
    log = []
    bytes = written do |transport|
      protocol = klass.new(transport)
      protocol.define_singleton_method(:write_string) { |value| log << value; super(value) }
      FULL.write(protocol)
    end
    [bytes, log]
  end
  habit("#{name}: an object with a method of its own, reading") do
    log = []
    protocol = klass.new(memory(bytes_of(FULL, name)))
    protocol.define_singleton_method(:read_field_begin) { super().tap { |field| log << field[1, 2] } }
    [SAMPLE.new.tap { |struct| struct.read(protocol) }.b, log]
  end
  habit("#{name}: an extended object") do
    log = []
    mod = Module.new { define_method(:write_struct_begin) { |struct| log << struct.class; super(struct) } }
    [written { |transport| FULL.write(klass.new(transport).extend(mod)) }, log]
  end
  habit("#{name}: a transport with a method of its own") do
    written { |transport|
      FULL.write(klass.new(transport.tap { |t|
        t.define_singleton_method(:write) { |bytes|
          super(bytes.b)
        }
      }))
    }
  end
  habit("#{name}: a multiplexed protocol") { written { |transport| FULL.write(Thrift::MultiplexedProtocol.new(klass.new(transport), "svc")) } }
  habit("#{name}: a multiplexed message") do
    written do |transport|
      protocol = Thrift::MultiplexedProtocol.new(klass.new(transport), "svc")
      protocol.write_message_begin("echo", Thrift::MessageTypes::CALL, 7)
      FULL.write(protocol)
      protocol.write_message_end
    end
  end
  habit("#{name}: a frozen transport, written") { FULL.write(klass.new(memory.freeze)) }
  habit("#{name}: a frozen transport, read") { SAMPLE.new.read(klass.new(memory(bytes_of(FULL, name)).freeze)) }
  habit("#{name}: a struct in a struct written by hand") do
    written do |transport|
      protocol = klass.new(transport)
      protocol.write_struct_begin("z")
      protocol.write_field_begin("p", TYPES::STRUCT, 3)
      FULL.write(protocol)
      protocol.write_field_end
      protocol.write_field_begin("b", TYPES::BOOL, 4)
      protocol.write_bool(true)
      protocol.write_field_end
      protocol.write_field_begin("far", TYPES::I64, 400)
      protocol.write_i64(-5)
      protocol.write_field_end
      protocol.write_field_stop
      protocol.write_struct_end
    end
  end
  habit("#{name}: the same, read by hand") do
    bytes = written do |transport|
      protocol = klass.new(transport)
      protocol.write_struct_begin("z")
      protocol.write_field_begin("p", TYPES::STRUCT, 3)
      FULL.write(protocol)
      protocol.write_field_begin("b", TYPES::BOOL, 4)
      protocol.write_bool(true)
      protocol.write_field_stop
      protocol.write_struct_end
    end
    protocol = klass.new(memory(bytes))
    protocol.read_struct_begin
    header = protocol.read_field_begin
    struct = SAMPLE.new
    struct.read(protocol)
    protocol.read_field_end
    [header, struct.b, protocol.read_field_begin, protocol.read_bool, protocol.read_field_begin[1]]
  end
  habit("#{name}: messages by hand") do
    bytes = written do |transport|
      protocol = klass.new(transport)
      protocol.write_message_begin("gr\u00fc\u00df", Thrift::MessageTypes::CALL, -7)
      protocol.write_message_end
    end
    [bytes, klass.new(memory(bytes)).read_message_begin]
  end
  habit("#{name}: values by hand") do
    bytes = written do |transport|
      protocol = klass.new(transport)
      protocol.write_byte(-128)
      protocol.write_i16(-32_768)
      protocol.write_i32(-2**31)
      protocol.write_i64(2**63 - 1)
      protocol.write_double(-0.0)
      protocol.write_string("\u20ac")
      protocol.write_binary("\xff".b)
      protocol.write_list_begin(TYPES::I32, 15)
      protocol.write_map_begin(TYPES::STRING, TYPES::DOUBLE, 3)
    end
    protocol = klass.new(memory(bytes))
    [bytes, protocol.read_byte, protocol.read_i16, protocol.read_i32, protocol.read_i64, protocol.read_double,
     protocol.read_string, protocol.read_binary, protocol.read_list_begin, protocol.read_map_begin]
  end
  { write_byte: [128, nil, "x", 1.0], write_i16: [32_768, nil, "x"], write_i32: [2**31, nil, "x"], write_i64: [2**63, nil, "x"],
    write_double: [nil, "x", :y], write_string: [nil, 5, :y], write_binary: [nil, 5] }.each do |method, values|
    values.each { |value|
      habit("#{name}: #{method}(#{value.inspect})") {
        written { |transport|
          klass.new(transport).public_send(method, value)
        }
      }
    }
  end
  habit("#{name}: a huge list that isn't there") do
    lists = struct_class(1 => field(:list, "l", element: element(:i64)))
    read(lists, name == :compact ? "\x19\xf6\xff\xff\xff\xff\x07\x01" : "\x0f\0\x01\x0a\x7f\xff\xff\xff\0", name)
  end
  habit("#{name}: over frames") do
    inner = memory
    frames = Thrift::FramedTransport.new(inner)
    FULL.write(klass.new(frames))
    frames.flush
    bytes = inner.read(inner.available)
    copy = SAMPLE.new
    copy.read(klass.new(Thrift::FramedTransport.new(memory(bytes))))
    [bytes, copy == FULL]
  end
  habit("#{name}: no protocol at all") { [nil, 5, "x"].map { |protocol| FULL.write(protocol) } }
  habit("#{name}: no argument") { FULL.write }
end

# Last: they change classes for good.
PROTOCOLS.each do |name, klass|
  habit("#{name}: a method redefined for all") do
    log = []
    klass.send(:define_method, :write_i32) { |value| log << value; trans.write([value].pack("N")) }
    [written { |transport| FULL.write(klass.new(transport)) }, log]
  end
end
