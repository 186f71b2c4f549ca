# frozen_string_literal: true

# Values of all kinds, and what user code can do while they are written.
require_relative "support"

INNER = struct_class(1 => field(:i32, "a")) do
  class << self
    attr_accessor :hook
  end

  def validate
    self.class.hook&.call(self)
  end
end

OUTER = struct_class(
  1 => field(:struct, "s", class: INNER), 2 => field(:i32, "n"),
  3 => field(:list, "l", element: element(:struct, class: INNER)),
  4 => field(:map, "m", key: element(:struct, class: INNER), value: element(:struct, class: INNER)),
  5 => field(:set, "t", element: element(:struct, class: INNER))
)
TEXTS = struct_class(
  1 => field(:map, "m", key: element(:string), value: element(:string)), 2 => field(:set, "s", element: element(:string)),
  3 => field(:list, "l", element: element(:string)), 4 => field(:string, "x"),
  5 => field(:list, "d", element: element(:double)), 6 => field(:string, "y", binary: true)
)

def inner(number)
  INNER.new(a: number)
end

def full
  OUTER.new(s: inner(1), n: 5, l: [inner(2), inner(3)], m: { inner(4) => inner(5) }, t: Set[inner(6)])
end

def hooked(hook)
  INNER.hook = hook
  yield
ensure
  INNER.hook = nil
end

class Texty
  def to_str; "ts"; end
end

class Floaty
  def to_f; 1.5; end
end

class Shouting < String
  def encode(*) "SHOUTED".encode("UTF-8"); end
  def encoding; Encoding::US_ASCII; end
end

class OddArray < Array
  def each; yield "zz"; end
  def size; 1; end
end

class OddHash < Hash
  def keys; ["k"]; end
end

class OddSet < Set
  def entries; ["e"]; end
end

PROTOCOLS.each_key do |protocol|
  habit("#{protocol}: everything") { bytes_of(full, protocol) }
  habit("#{protocol}: validate empties the list before it's written") do
    struct = full
    hooked(->(one) { struct.l.clear if one.a == 1 }) { bytes_of(struct, protocol) }
  end
  habit("#{protocol}: validate empties the list meanwhile") do
    struct = full
    hooked(->(one) { struct.l.clear if one.a == 2 }) { bytes_of(struct, protocol) }
  end
  habit("#{protocol}: validate adds to the map") do
    struct = full
    hooked(->(one) { struct.m[inner(50)] = inner(51) if one.a == 4 }) { bytes_of(struct, protocol) }
  end
  habit("#{protocol}: validate throws") { catch(:x) { hooked(->(_) { throw :x, 1 }) { bytes_of(full, protocol) } } }
  habit("#{protocol}: validate collects") { hooked(->(_) { GC.start }) { bytes_of(full, protocol) } }
  habit("#{protocol}: validate writes another struct, elsewhere") do
    hooked(->(one) { bytes_of(TEXTS.new(x: "y" * 5000), protocol) if one.a == 3 }) { bytes_of(full, protocol) }
  end
  habit("#{protocol}: validate sets FIELDS anew") do
    own = OUTER::FIELDS
    change = lambda do |one|
      next unless one.a == 2

      OUTER.send(:remove_const, :FIELDS)
      OUTER.const_set(:FIELDS, { 2 => field(:i32, "n") })
      GC.start
    end
    hooked(change) { bytes_of(full, protocol) }
  ensure
    OUTER.send(:remove_const, :FIELDS)
    OUTER.const_set(:FIELDS, own)
  end
  habit("#{protocol}: a failed write leaves nothing, or what the stock code leaves") do
    transport = Thrift::MemoryBufferTransport.new(+"".b)
    begin
      TEXTS.new(x: "q", l: [3]).write(PROTOCOLS.fetch(protocol).new(transport))
    rescue StandardError => e
      e.class
    end
  end

  { "to_str" => Texty.new, "a symbol" => :sym, "a number" => 5, "no UTF-8" => "\xff", "no US-ASCII" => "\xff".dup.force_encoding("US-ASCII"),
    "Shift_JIS" => "\u3042".encode("Shift_JIS"), "Latin-1" => "gr\xfcn".dup.force_encoding("ISO-8859-1"),
    "bytes" => "\xff\xfe".b, "a String of its own class" => Shouting.new("quiet") }.each do |name, text|
    habit("#{protocol}: a string: #{name}") { bytes_of(TEXTS.new(x: text), protocol) }
    habit("#{protocol}: in a list: #{name}") { bytes_of(TEXTS.new(l: [text]), protocol) }
    habit("#{protocol}: as a key: #{name}") { bytes_of(TEXTS.new(m: { text => "v" }), protocol) }
  end
  habit("#{protocol}: a binary field leaves the caller's string as it is, or not") do
    text = "\u00e9"
    bytes_of(TEXTS.new(y: text), protocol)
  end
  { "to_f" => Floaty.new, "Rational" => 3r / 2, "Integer" => 5, "text" => "1.5", "nil" => nil,
    "NaN" => Float::NAN }.each do |name, number|
    habit("#{protocol}: a double: #{name}") { bytes_of(TEXTS.new(d: [number]), protocol) }
  end
  habit("#{protocol}: an Array of a class of its own") { bytes_of(TEXTS.new(l: OddArray.new(%w[1 2])), protocol) }
  habit("#{protocol}: a Hash of a class of its own") {
    bytes_of(TEXTS.new(m: OddHash.new.merge!("k" => "1", "j" => "2")), protocol)
  }
  habit("#{protocol}: a Set of a class of its own") { bytes_of(TEXTS.new(s: OddSet.new(%w[1 2])), protocol) }
  habit("#{protocol}: a Set with a method of its own") do
    set = Set["1"]
    set.define_singleton_method(:entries) { ["q"] }
    bytes_of(TEXTS.new(s: set), protocol)
  end
  habit("#{protocol}: a set given as a Hash, an Array") {
    [{ "a" => true }, %w[a]].map { |set|
      bytes_of(TEXTS.new(s: set), protocol)
    }
  }
  habit("#{protocol}: a map that is none") { bytes_of(TEXTS.new(m: [[1, 2]]), protocol) }
  habit("#{protocol}: a list that is none") { bytes_of(TEXTS.new(l: { 1 => 2 }), protocol) }
  habit("#{protocol}: a list with nil") { bytes_of(TEXTS.new(l: [nil]), protocol) }
  habit("#{protocol}: an inner struct that is none") {
    ["str", 5, [5], Object.new].map { |o|
      bytes_of(OUTER.new(s: o), protocol)
    }
  }
  habit("#{protocol}: an inner struct of another class") { bytes_of(OUTER.new(s: TEXTS.new(x: "other")), protocol) }

  habit("#{protocol}: a struct in itself") do
    klass = struct_class(1 => field(:struct, "s", class: nil))
    klass::FIELDS[1][:class] = klass
    struct = klass.new
    struct.s = struct
    bytes_of(struct, protocol)
  end
  habit("#{protocol}: a type in itself") do
    type = element(:list)
    type[:element] = type
    bytes_of(struct_class(1 => type.merge(name: "l")).new(l: [[], [[]]]), protocol)
  end
  # FIELDS that only the stock code can make sense of, alone and in a struct.
  odd = { "no element" => [{ 1 => { type: 15, name: "l" }, 2 => field(:i32, "a") }, { a: 1 }],
          "an unknown type" => [{ 1 => field(:i32, "a"), 3 => { type: 1, name: "v" } }, { a: 1 }],
          "an id beyond 16 bits" => [{ 1 => field(:i32, "a"), 70_000 => field(:i32, "b") }, { a: 1 }] }
  odd.each do |name, (fields, arguments)|
    klass = struct_class(fields)
    habit("#{protocol}: #{name}") { bytes_of(klass.new(arguments), protocol) }
    habit("#{protocol}: #{name}, inside") {
      bytes_of(struct_class(1 => field(:struct, "s", class: klass)).new(s: klass.new(arguments)), protocol)
    }
  end

  habit("#{protocol}: validate redefined after use") do
    klass = struct_class(1 => field(:i32, "a"))
    outer = struct_class(1 => field(:list, "l", element: element(:struct, class: klass)))
    bytes_of(outer.new(l: [klass.new(a: 1)]), protocol)
    klass.send(:define_method, :validate) { raise "no" if @a == 3 }
    bytes_of(outer.new(l: [1, 2, 3].map { |a| klass.new(a: a) }), protocol)
  end
  habit("#{protocol}: validate prepended after use") do
    klass = struct_class(1 => field(:i32, "a"))
    bytes_of(klass.new(a: 1), protocol)
    klass.prepend(Module.new { def validate; raise "no"; end })
    bytes_of(klass.new(a: 1), protocol)
  end
  habit("#{protocol}: one object with a validate of its own in a list") do
    klass = struct_class(1 => field(:i32, "a"))
    outer = struct_class(1 => field(:list, "l", element: element(:struct, class: klass)))
    objects = Array.new(60) { |a| klass.new(a: a) }
    objects[50].define_singleton_method(:validate) { raise "the fiftieth" }
    bytes_of(outer.new(l: objects), protocol)
  end
  habit("#{protocol}: write redefined, prepended") do
    klass = struct_class(1 => field(:i32, "a"))
    bytes_of(klass.new(a: 1), protocol)
    log = []
    klass.prepend(Module.new { define_method(:write) { |*args| log << :write; super(*args) } })
    factory = { accelerated: Thrift::BinaryProtocolAcceleratedFactory, binary: Thrift::BinaryProtocolFactory,
                compact: Thrift::CompactProtocolFactory }.fetch(protocol).new
    [Thrift::Serializer.new(factory).serialize(klass.new(a: 1)), bytes_of(klass.new(a: 2), protocol), log]
  end
end
