# frozen_string_literal: true

# Classes: copied, reopened, frozen, derived, with methods of their own; objects: made, compared, hashed.
require_relative "support"

FIELDS = lambda do
  { 1 => field(:i32, "a"), 2 => field(:string, "b", default: "d"), 3 => field(:list, "l", element: element(:i32)) }
end

def plain_class(&body)
  struct_class(FIELDS.call, &body)
end

USED = plain_class
SAMPLE = USED.new(a: 1, b: "x", l: [1])
bytes_of(SAMPLE)
read(USED, bytes_of(SAMPLE))

habit("a class's dup, read into") do
  object = USED.dup.allocate
  object.instance_variable_set(:@l, [9])
  object.instance_variable_set(:@own, "mine")
  read(object, bytes_of(SAMPLE))
  [object.a, object.b, object.l, object.instance_variable_get(:@own)]
end
habit("a class's dup, written") { bytes_of(USED.dup.new(l: [3], a: 4)) }
habit("a class's clone, with variables in another order") do
  object = USED.clone.new(l: [3], a: 4)
  [object.a, object.b, object.l, object.instance_variables]
end

habit("FIELDS set anew is written") do
  klass = plain_class
  bytes_of(klass.new(a: 1))
  klass.send(:remove_const, :FIELDS)
  klass.const_set(:FIELDS, FIELDS.call.merge(4 => field(:i32, "n")))
  object = klass.new(a: 1)
  object.instance_variable_set(:@n, 5)
  bytes_of(object)
end
habit("FIELDS with an entry more") do
  klass = plain_class
  bytes_of(klass.new(a: 1))
  klass::FIELDS[9] = field(:i32, "z")
  object = klass.new(a: 1)
  object.instance_variable_set(:@z, 5)
  [object.instance_variables, read(klass, "\x08\0\x09\0\0\0\x07\0".b).instance_variable_get(:@z)]
end

# FIELDS in struct_fields is that of the class where it's written.
class Base
  include Thrift::Struct
  include Thrift::Struct_Union
  FIELDS = ::FIELDS.call

  def struct_fields
    FIELDS
  end

  def validate; end
  Thrift::Struct.generate_accessors(self)
end

class Derived < Base
  FIELDS = { 1 => field(:i32, "a"), 9 => field(:i32, "z", default: 4) }.freeze
  Thrift::Struct.generate_accessors(self)
end

class Plain < Base; end

habit("a subclass with FIELDS of its own: new") { Derived.new.instance_variables }
habit("a subclass with FIELDS of its own: an argument") { Derived.new(z: 1).z }
habit("a subclass with FIELDS of its own: the parent's argument") { Derived.new(b: "q").b }
habit("a subclass with FIELDS of its own: ==") { Derived.new.tap { |o| o.z = 1 } == Derived.new.tap { |o| o.z = 2 } }
habit("a subclass with FIELDS of its own: hash") do
  Derived.new.tap { |o| o.z = 1 }.hash == Derived.new.tap { |o| o.z = 2 }.hash
end
habit("a subclass of nothing else") do
  [bytes_of(Plain.new(a: 3)), Plain.new(a: 3) == Plain.new(a: 3), Plain.new(a: 3) == Base.new(a: 3)]
end

habit("struct_fields redefined: new") { plain_class { def struct_fields; { 1 => { type: 8, name: "a" } }; end }.new.b }
habit("struct_fields redefined: ==") do
  klass = plain_class { def struct_fields; { 1 => { type: 8, name: "a" } }; end }
  klass.new(a: 1) == klass.new(a: 1).tap { |other| other.b = "another" }
end
habit("struct_fields redefined: an unknown argument") do
  plain_class { def struct_fields; { 1 => { type: 8, name: "a" } }; end }.new(b: "1").b
end
habit("each_field redefined") do
  klass = plain_class { def each_field; yield 1, { type: 8, name: "a" }; end }
  [klass.new(a: 1) == klass.new(a: 1, b: "other"), klass.new(a: 1).hash == klass.new(a: 1, b: "other").hash]
end
habit("fields_with_default_values redefined: new") do
  plain_class { def fields_with_default_values; { "a" => 77 }; end }.new.a
end
habit("name_to_id redefined") do
  klass = plain_class { def name_to_id(name); name == "alias" ? 1 : super; end }
  klass.new("alias" => 1).instance_variable_get(:@alias)
end
habit("sorted_field_ids redefined") { bytes_of(plain_class { def sorted_field_ids; [2, 1]; end }.new(a: 1, l: [1])) }
habit("a union's name_to_id redefined") do
  klass = union_class(1 => field(:i32, "a")) { def name_to_id(name); name == "alias" ? 1 : super; end }
  bytes_of(klass.new("alias", 5))
end

habit("private reader: ==") { plain_class.tap { |k| k.send(:private, :a) }.then { |k| k.new(a: 1) == k.new(a: 1) } }
habit("missing reader: ==") { plain_class.tap { |k| k.send(:undef_method, :a) }.then { |k| k.new == k.new } }
habit("missing reader: hash") { plain_class.tap { |k| k.send(:undef_method, :a) }.new.hash }
habit("respond_to? redefined: ==") { plain_class { def respond_to?(*); false; end }.then { |k| k.new == k.new } }
habit("a reader of its own") do
  klass = plain_class
  klass.send(:define_method, :a) { 42 }
  [klass.new(a: 1) == klass.new(a: 2), klass.new(a: 1).hash == klass.new(a: 2).hash, bytes_of(klass.new(a: 1))]
end
habit("an initialize of its own, around ours") do
  klass = plain_class
  klass.class_eval do
    alias_method :initialize_of_thrift, :initialize
    define_method(:initialize) { |*args| initialize_of_thrift(*args).then { @a ||= 5 } }
  end
  klass.new.a
end

class OddHash < Hash
  def each; yield :a, 99; end
  def each_key; yield :a; end
  def empty?; false; end
end

class OddName < String
  def to_s; "a"; end
end

habit("arguments: a Hash of a class of its own") { USED.new(OddHash.new).a }
habit("arguments: a Hash with a default") { USED.new(Hash.new { 5 }).b }
habit("arguments: a String of a class of its own") { USED.new(OddName.new("another") => 1).a }
habit("arguments: by both names") { USED.new(:a => 1, "a" => 2).a }
habit("arguments: nil for a default") { USED.new(b: nil).b }
habit("arguments: unknown") { USED.new(q: 1) }
habit("arguments: a number") { USED.new(1 => 1) }
habit("arguments: nil") { USED.new(nil) }
habit("arguments: two") { USED.new({}, {}) }
habit("arguments: a block") { USED.new { |struct| struct.a = 4 }.a }
habit("variables and their order") do
  [USED.new(l: [1]), USED.new(b: "1", a: 2), USED.new].map(&:instance_variables)
end
habit("variables of the class") do
  klass = plain_class
  object = klass.new(a: 1)
  [object == klass.new, object.hash.class, bytes_of(object), klass.instance_variables.sort]
end
habit("defaults are copies") do
  klass = struct_class(1 => field(:map, "m", key: element(:i32), value: element(:i32), default: { 1 => 2 }))
  klass.new.m[5] = 6
  [klass.new.m, klass::FIELDS[1][:default]]
end
habit("a default that can't be copied") { struct_class(1 => field(:i32, "a", default: method(:puts))).new.a.class }
habit("Marshal") {
  Marshal.load(Marshal.dump(Base.new(a: 1))).then { |copy|
    [copy == Base.new(a: 1), copy.instance_variables]
  }
}
habit("dup, clone, eql?, as a key") do
  [SAMPLE.dup == SAMPLE, SAMPLE.clone == SAMPLE, SAMPLE.dup.instance_variables, SAMPLE.eql?(SAMPLE.dup),
   { SAMPLE => 1 }[SAMPLE.dup]]
end
habit("NaN is not itself") do
  klass = struct_class(1 => field(:double, "d"))
  klass.new(d: Float::NAN) == klass.new(d: Float::NAN)
end

habit("reading into a frozen object") { read(USED.new(a: 1).freeze, "\0".b) }
habit("reading into a frozen object without variables") { read(USED.allocate.freeze, "\x08\0\x01\0\0\0\x05\0".b) }
habit("reading nothing into a frozen object") { read(USED.allocate.freeze, "\0".b).class == USED }
habit("reading into a frozen union") { read(union_class(1 => field(:i32, "a")).new(:a, 1).freeze, "\0".b) }
habit("a class that is frozen after use") do
  klass = plain_class
  object = klass.new(a: 1)
  bytes_of(object)
  klass.freeze
  [object.inspect.size > 10, object <=> klass.new, klass.new(a: 1).a, bytes_of(object)]
end
habit("a class that was always frozen: new") { plain_class.freeze.new(a: 1) }
habit("a class that was always frozen: reading") { read(plain_class.freeze.allocate, "\x08\0\x01\0\0\0\x05\0".b).a }
habit("a frozen class inside") do
  inner = struct_class(1 => field(:i32, "a")) { def initialize; end }.freeze
  read(struct_class(1 => field(:struct, "s", class: inner)), "\x0c\0\x01\x08\0\x01\0\0\0\x05\0\0".b).s.a
end

habit("an exception") do
  klass = struct_class({ 1 => field(:string, "message"), 2 => field(:i32, "code", default: 3) }, Thrift::Exception)
  copy = read(klass, bytes_of(klass.new("boo")))
  [klass.new("boo").message, copy.message, copy.code, copy == klass.new("boo"), klass.new(code: 9).code]
end
habit("a union") do
  klass = union_class(1 => field(:i32, "a"), 2 => field(:string, "b"))
  copy = read(klass, bytes_of(klass.new(:a, 5)))
  [copy == klass.new(:a, 5), copy.a, copy.get_set_field, bytes_of(klass.new("b", "x"))]
end
habit("a union of nothing") { bytes_of(union_class(1 => field(:i32, "a")).new) }
habit("a union of what it hasn't") { bytes_of(union_class(1 => field(:i32, "a")).new(:zz, 5)) }

habit("type checking") do
  Thrift.type_checking = true
  [USED.new(a: 5).a, begin; USED.new(a: "x"); rescue Thrift::TypeError => e; e.message; end]
ensure
  Thrift.type_checking = false
end

# Last: they change modules for good.
module Thrift
  module Struct
    def fields_with_default_values
      { "a" => 5 }
    end
  end
end
habit("fields_with_default_values redefined for all") { plain_class.new.a }
habit("fields_with_default_values redefined for all, a class that was used before") { USED.new.a }

module Thrift
  module Struct_Union
    def each_field; end
  end
end
habit("each_field redefined for all") { plain_class.then { |klass| klass.new(a: 1) == klass.new(a: 2) } }
