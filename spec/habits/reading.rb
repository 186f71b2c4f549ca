# frozen_string_literal: true

# What user code can do while a struct is read, and what is read then.
require_relative "support"

INNER = struct_class(1 => field(:i32, "a")) do
  class << self
    attr_accessor :hook, :hash_hook
  end

  def validate
    self.class.hook&.call(self)
  end

  def hash
    self.class.hash_hook&.call(self)
    super
  end
end

LIST = element(:list, element: element(:struct, class: INNER))
OUTER = struct_class(
  1 => field(:struct, "s", class: INNER), 2 => field(:i32, "n"),
  3 => field(:list, "l", element: element(:struct, class: INNER)),
  4 => field(:map, "m", key: element(:struct, class: INNER), value: element(:struct, class: INNER)),
  5 => field(:set, "t", element: element(:struct, class: INNER)),
  6 => field(:set, "q", element: LIST), 7 => field(:map, "r", key: LIST, value: element(:i32)),
  8 => field(:string, "z", binary: true)
)

def inner(number)
  INNER.new(a: number)
end

FULL = OUTER.new(s: inner(1), n: 5, l: [inner(2), inner(3)], m: { inner(4) => inner(5) }, t: Set[inner(6)],
                 q: Set.new((1..300).map { |n| [inner(n)] }), r: (1..300).map { |n|
                                                                [[inner(n)], n]
                                                              }.to_h, z: "pad".b * 2000)

# Reads FULL; the block is called once, by `validate` or `hash` of the struct whose turn it is.
def interrupted(protocol, kind, at, block)
  @transport = Thrift::MemoryBufferTransport.new(+bytes_of(FULL, protocol))
  @protocol = PROTOCOLS.fetch(protocol).new(@transport)
  calls = 0
  INNER.public_send("#{kind}=", ->(struct) { block.call(struct) if (calls += 1) == at })
  read = OUTER.new
  read.read(@protocol)
  INNER.hook = INNER.hash_hook = nil
  [read == FULL, read.n, @transport.available]
ensure
  INNER.hook = INNER.hash_hook = nil
end

PROTOCOLS.each_key do |protocol|
  { hook: [1, 2, 3, 100, 500], hash_hook: [1, 50, 250, 400] }.each do |kind, times|
    times.each do |at|
      try = ->(block) { interrupted(protocol, kind, at, block) }
      label = "#{protocol}: in the #{at}th #{kind}:"
      habit("#{label} a collection") { try.call(->(_) { GC.start }) }
      habit("#{label} another read and write") {
        try.call(->(_) {
          read(INNER, bytes_of(inner(9), protocol), protocol)
        })
      }
      habit("#{label} bytes added to the transport") { try.call(->(_) { @transport.write("zz".b * 100_000) }) }
      habit("#{label} an exception") { try.call(->(_) { raise "boo" }) }
      habit("#{label} the place where we are") do
        place = nil
        try.call(->(_) { place = @transport.available })
        place
      end
      next unless kind == :hook # what is hashed is read in larger parts

      habit("#{label} the transport reset") {
        try.call(->(_) {
          @transport.reset_buffer(bytes_of(FULL, protocol).byteslice(0, 40))
        })
      }
      habit("#{label} the buffer emptied") {
        try.call(->(_) {
          @transport.instance_variable_get(:@buf).replace("x".b)
        })
      }
    end
  end
  habit("#{protocol}: FIELDS set anew meanwhile") do
    own = OUTER::FIELDS
    change = lambda do |_|
      OUTER.send(:remove_const, :FIELDS)
      OUTER.const_set(:FIELDS, { 2 => field(:i32, "n") })
      GC.start
    end
    interrupted(protocol, :hook, 1, change).last
  ensure
    OUTER.send(:remove_const, :FIELDS)
    OUTER.const_set(:FIELDS, own)
  end

  habit("#{protocol}: what is frozen, shared, or has a default") do
    klass = struct_class(1 => field(:map, "m", key: element(:string), value: element(:string)),
                         2 => field(:set, "s", element: element(:string)), 3 => field(:string, "x"))
    copy = read(klass, bytes_of(klass.new(m: { "a" => "b" }, s: Set["q"], x: "y"), protocol), protocol)
    copy.s << "r"
    [copy.m.keys[0].frozen?, copy.m.values[0].frozen?, copy.s.first.frozen?, copy.x.frozen?, copy.m.default,
     copy.m.keys[0].encoding, copy.s.class, copy.s.instance_variables, copy.s.include?("r"), copy.s.include?("zz"), copy.s == Set["q", "r"]]
  end
  habit("#{protocol}: 0.0 and -0.0 as keys") do
    klass = struct_class(1 => field(:map, "m", key: element(:double), value: element(:i32)))
    read(klass, bytes_of(klass.new(m: { 0.0 => 1, 1.0 => 2 }), protocol), protocol).m.to_a
  end
  habit("#{protocol}: a class with a `new` of its own") do
    klass = struct_class(1 => field(:i32, "a"))
    calls = 0
    klass.define_singleton_method(:new) { |*args| calls += 1; super(*args) }
    outer = struct_class(1 => field(:struct, "s", class: klass))
    bytes = bytes_of(outer.new(s: klass.new(a: 1)), protocol)
    [read(outer, bytes, protocol).s.a, calls]
  end
  habit("#{protocol}: initialize of its own, redefined, prepended") do
    klass = struct_class(1 => field(:i32, "a"), 2 => field(:i32, "b"))
    outer = struct_class(1 => field(:list, "l", element: element(:struct, class: klass)))
    bytes = bytes_of(outer.new(l: [klass.new(a: 1), klass.new(a: 2)]), protocol)
    first = read(outer, bytes, protocol).l.map(&:b)
    klass.send(:define_method, :initialize) { |*args| super(*args).then { @b = 7 } }
    second = read(outer, bytes, protocol).l.map(&:b)
    klass.prepend(Module.new { def initialize(*); super; @a = @b = 8; end })
    [first, second, read(outer, bytes, protocol).l.map { |struct| [struct.a, struct.b] }]
  end
  habit("#{protocol}: initialize that wants arguments") do
    klass = struct_class(1 => field(:i32, "a")) { def initialize(_); end }
    read(struct_class(1 => field(:struct, "s", class: klass)),
         protocol == :compact ? "\x1c\0\0".b : "\x0c\0\x01\0\0".b, protocol)
  end
  habit("#{protocol}: too deep") do
    klass = struct_class(1 => field(:struct, "s", class: nil))
    klass::FIELDS[1][:class] = klass
    read(klass, (protocol == :compact ? "\x1c" : "\x0c\0\x01").b * 1000, protocol)
  end
  habit("#{protocol}: too deep, unknown") do
    read(struct_class(1 => field(:i32, "a")), (protocol == :compact ? "\x5c" : "\x0c\0\x05").b * 1000, protocol)
  end
  habit("#{protocol}: FIELDS that only the stock code understands, inside") do
    klass = struct_class(1 => { type: 15, name: "l" }, 2 => field(:i32, "a"), 70_000 => field(:i32, "b"))
    outer = struct_class(1 => field(:struct, "s", class: klass), 2 => field(:string, "after"))
    bytes = protocol == :compact ? "\x1c\x25\x0a\0\x18\x01x\0" : "\x0c\0\x01\x08\0\x02\0\0\0\x05\0\x0b\0\x02\0\0\0\x01x\0"
    read(outer, bytes, protocol).then { |struct| [struct.s.a, struct.after] }
  end
  habit("#{protocol}: read redefined, with a Deserializer") do
    klass = struct_class(1 => field(:i32, "a"))
    factory = { accelerated: Thrift::BinaryProtocolAcceleratedFactory, binary: Thrift::BinaryProtocolFactory,
                compact: Thrift::CompactProtocolFactory }.fetch(protocol).new
    bytes = bytes_of(klass.new(a: 1), protocol)
    deserializer = Thrift::Deserializer.new(factory)
    first = deserializer.deserialize(klass.new, bytes).a
    klass.send(:define_method, :read) { |*| @a = :mine }
    [first, deserializer.deserialize(klass.new, bytes).a]
  end
  habit("#{protocol}: a Serializer after a failure") do
    klass = struct_class(1 => field(:i32, "a"), 2 => field(:i32, "b"))
    factory = { accelerated: Thrift::BinaryProtocolAcceleratedFactory, binary: Thrift::BinaryProtocolFactory,
                compact: Thrift::CompactProtocolFactory }.fetch(protocol).new
    serializer = Thrift::Serializer.new(factory)
    failure = begin; serializer.serialize(klass.new(a: 1, b: "no")); rescue StandardError => e; e.class; end
    [failure, serializer.serialize(klass.new(a: 1, b: 2))]
  end
end
