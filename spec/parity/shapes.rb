# frozen_string_literal: true

# Random struct classes and random values for them, the same for the same seed in every process. The classes are what
# the Thrift compiler writes, plus what programs do to them afterwards.
class Shapes
  TYPES = Thrift::Types
  UUID = TYPES.const_defined?(:UUID) && ENV["PARITY_UUID"] != "0" # the same classes as in a thrift without them
  CLIPS = ENV["PARITY_CLIPS"] == "1" # before 0.24 these are cut and written
  UUID_TYPE = UUID ? TYPES::UUID : :none
  SCALARS = [:bool, :byte, :i16, :i32, :i64, :double, :string, :binary, :enum, *(:uuid if UUID)].freeze
  KINDS = [:struct, :struct, :struct, :union, :exception, :anonymous, :inherited, :reopened].freeze
  IDS = [*1..20, 31, 47, 63, 64, 65, 80, 255, 256, 300, 1000, 32_767, -1, -2, -16, -300, -32_768, 0].freeze
  ENUM = [0, 1, 2, 5, -3, 1_000_000].freeze

  # The classes, in the order in which they were made.
  attr_reader :classes

  def initialize(seed)
    @random = Random.new(seed)
    @space = Object.const_set("Shape#{seed}", Module.new)
    @classes = []
    make_classes
  end

  # A value of one of the classes; +wrong+ puts something that can't be written in it, somewhere.
  def value(random, wrong: false)
    klass = classes[random.rand(classes.size)]
    Values.new(self, random, wrong).struct(klass, 0)
  end

  private

  def pick(list)
    list[@random.rand(list.size)]
  end

  def make_classes
    kinds = Array.new(5 + @random.rand(3)) { pick(KINDS) }
    plain = kinds.map.with_index { |kind, i| [kind, make_class(kind, i)] }
    plain.each { |kind, klass| give_fields(kind, klass) }
  end

  def make_class(kind, index)
    klass = case kind
            when :union then Class.new(Thrift::Union)
            when :exception then Class.new(Thrift::Exception)
            when :inherited then Class.new(parent || Object)
            else Class.new
            end
    @space.const_set("C#{index}", klass) unless kind == :anonymous
    klass.define_singleton_method(:to_s) { "anonymous" } if kind == :anonymous # its real name has an address in it
    @classes << klass
    klass
  end

  def parent
    @classes.find { |klass| klass.superclass == Object }
  end

  def give_fields(kind, klass)
    inherits = klass.superclass != Object && kind == :inherited
    return klass if inherits && @random.rand(2).zero?

    klass.include(*(Thrift::Struct unless kind == :union), Thrift::Struct_Union) unless inherits
    fields = make_fields(kind)
    klass.const_set(:FIELDS, fields)
    define_methods(klass, kind, fields)
    (kind == :union ? Thrift::Union : Thrift::Struct).generate_accessors(klass)
    reopen(klass, fields) if kind == :reopened
  end

  def make_fields(kind)
    ids = IDS.shuffle(random: @random).first(@random.rand(kind == :union ? 1..5 : 0..12))
    ids.sort! if @random.rand(2).zero?
    ids.each_with_index.to_h do |id, i|
      info = type(0).merge(name: "f#{i}#{pick(%w[_x Abc _ y9])}")
      info[:optional] = true if @random.rand(2).zero?
      info[:default] = default(info) if kind != :union && @random.rand(4).zero?
      [id, info.compact]
    end
  end

  def type(depth)
    kind = depth < 3 && @random.rand(3).zero? ? pick([:list, :set, :map, :struct]) : pick(SCALARS)
    case kind
    when :list then { type: TYPES::LIST, element: type(depth + 1) }
    when :set then { type: TYPES::SET, element: type(depth + 1) }
    when :map then { type: TYPES::MAP, key: type(depth + 1), value: type(depth + 1) }
    when :struct then { type: TYPES::STRUCT, class: pick(@classes) }
    when :enum then { type: TYPES::I32, enum_class: ENUM }
    when :binary then { type: TYPES::STRING, binary: true }
    else { type: TYPES.const_get(kind.to_s.upcase) }
    end
  end

  def default(info)
    case info[:type]
    when TYPES::BOOL then pick([true, false])
    when TYPES::BYTE, TYPES::I16, TYPES::I32, TYPES::I64 then pick([0, 1, -7, 100])
    when TYPES::DOUBLE then pick([1.5, -0.0, 3])
    when TYPES::STRING then info[:binary] ? (+"\xFF\x00").b : pick(["", "größer", +"open"])
    when TYPES::LIST then []
    when TYPES::SET then Set.new
    when TYPES::MAP then {}
    when UUID_TYPE then "00112233-4455-6677-8899-aabbccddeeff"
    end
  end

  def define_methods(klass, kind, fields)
    klass.send(:define_method, :struct_fields) { fields }
    return define_union_validate(klass) if kind == :union

    required = fields.values.select { |info| !info[:optional] && @random.rand(6).zero? }.map { |info| info[:name] }
    enums = fields.values.select { |info| info[:enum_class] && @random.rand(4).zero? }.map { |info| info[:name] }
    klass.send(:define_method, :validate) do
      required.each do |name|
        next unless instance_variable_get("@#{name}").nil?

        raise Thrift::ProtocolException.new(Thrift::ProtocolException::UNKNOWN, "Required field #{name} is unset!")
      end
      enums.each do |name|
        value = instance_variable_get("@#{name}")
        next if value.nil? || ENUM.include?(value)

        raise Thrift::ProtocolException.new(Thrift::ProtocolException::UNKNOWN, "Invalid value of field #{name}!")
      end
    end
  end

  def define_union_validate(klass)
    klass.send(:define_method, :validate) do
      next unless get_set_field.nil? || get_value.nil?

      raise Thrift::ProtocolException.new(Thrift::ProtocolException::UNKNOWN, "Union fields are not set.")
    end
  end

  def reopen(klass, fields)
    fields[99] = { type: TYPES::STRING, name: "added", default: "later" }
    klass.class_eval { attr_accessor :added }
    choice = @random.rand(3)
    klass.class_eval { def initialize(*arguments); super; @extra = 1; end } if choice.zero?
    first = fields.values.first[:name]
    klass.class_eval {
      define_method(:initialize) { |*a|
        super(*a); instance_variable_set("@#{first}", nil)
      }
    } if choice == 1
  end

  # Values for one struct.
  class Values
    STRINGS = [
      "", "a", "plain ASCII", "größer €", "x" * 300, "𝄞", "nul\0inside", "frozen"
    ].freeze
    FLOATS = [0.0, -0.0, 1.0, 1.5, -2.25, Float::NAN, Float::INFINITY, -Float::INFINITY, Float::MIN, Float::MAX,
              5e-324, 1e300, 3].freeze

    def initialize(shapes, random, wrong)
      @shapes = shapes
      @random = random
      @wrong = wrong
    end

    def struct(klass, depth)
      fields = klass::FIELDS
      return union(klass, fields, depth) if klass < Thrift::Union

      object = klass.new
      fields.each_value do |info|
        next if chance(depth.zero? ? 4 : 2) || (depth > 3 && container?(info))

        object.instance_variable_set("@#{info[:name]}", value(info, depth + 1))
      end
      object
    end

    private

    def union(klass, fields, depth)
      infos = fields.values.reject { |info| depth > 3 && container?(info) }
      info = pick(infos.empty? ? fields.values : infos)
      object = klass.new
      return object if depth > 20 # a union of nothing but itself

      object.instance_variable_set(:@setfield, info[:name].to_sym)
      object.instance_variable_set(:@value, value(info, depth + 1))
      object
    end

    def container?(info)
      [TYPES::LIST, TYPES::SET, TYPES::MAP, TYPES::STRUCT].include?(info[:type])
    end

    def pick(list)
      list[@random.rand(list.size)]
    end

    def chance(sides)
      @random.rand(sides).zero?
    end

    def value(info, depth)
      return wrong_value(info) if @wrong && chance(12)

      case info[:type]
      when TYPES::BOOL then truth
      when TYPES::BYTE then pick([0, 1, -1, 127, -128, @random.rand(-128..127)])
      when TYPES::I16 then integer(16)
      when TYPES::I32 then info[:enum_class] ? pick([0, 1, 2, 5, -3, 77]) : integer(32)
      when TYPES::I64 then integer(64)
      when TYPES::DOUBLE then chance(3) ? @random.rand : pick([*FLOATS, Rational(1, 3), 2**70])
      when TYPES::STRING then info[:binary] ? binary : text
      when UUID_TYPE then pick(["00112233-4455-6677-8899-aabbccddeeff", "FFEEDDCC-BBAA-9988-7766-554433221100"])
      when TYPES::STRUCT then struct(info[:class], depth)
      else container(info, depth)
      end
    end

    # Thrift.check_type takes true and false only. Before 0.25, the compact protocol wrote other truthy values as false.
    def truth
      other = chance(8) ? pick([nil, 0, "x", :y]) || false : pick([true, false])
      @wrong || [true, false].include?(other) ? other : true
    end

    def integer(bits)
      top = 1 << (bits - 1)
      size = @random.rand(bits)
      pick([0, 1, -1, 63, 64, -64, -65, top - 1, -top, @random.rand(-(1 << size)..(1 << size)).clamp(-top, top - 1)])
    end

    def text
      string = case @random.rand(12)
               when 0 then "größer".encode("ISO-8859-1")
               when 1 then "ascii".encode("US-ASCII")
               when 2 then "ascii bytes".b
               when 3 then +"\xFF\xFEinvalid"
               when 4 then "wide €".encode("UTF-16LE")
               when 5 then "y" * 5000
               else pick(STRINGS).dup
               end
      chance(3) ? string.freeze : string
    end

    def binary
      string = case @random.rand(8)
               when 0 then +"größer €"
               when 1 then "größer".encode("ISO-8859-1")
               when 2 then @random.bytes(3000)
               when 3 then +""
               else @random.bytes(@random.rand(40))
               end
      chance(3) ? string.freeze : string
    end

    def count(depth)
      return @random.rand(3) if depth > 2

      pick([0, 1, 2, 3, 5, 14, 15, 16, *(depth < 2 ? [40, 70, 200] : [])])
    end

    def container(info, depth)
      count = count(depth)
      return Array.new(count) { value(info[:element], depth + 1) } if info[:type] == TYPES::LIST

      if info[:type] == TYPES::MAP
        map = count.times.to_h { [value(info[:key], depth + 1), value(info[:value], depth + 1)] }
        map.default = 7 if chance(5)
        map.compare_by_identity if chance(9)
        return map
      end
      members = Array.new(count) { value(info[:element], depth + 1) }
      case @random.rand(4)
      when 0 then members
      when 1 then members.to_h { |member| [member, true] }
      else Set.new(members)
      end
    end

    # Answers +coerced+ to everything that the stock code may ask.
    class Coerced < BasicObject
      def class
        ::Object
      end

      def inspect
        "#<coerced>"
      end

      def respond_to?(name, _all = false)
        [:to_str, :to_int, :to_ary].include?(name)
      end

      def to_str
        "coerced"
      end

      def to_int
        5
      end
    end

    # A Numeric of the program's own.
    class Number < Numeric
      def to_f
        2.5
      end

      def to_int
        2
      end

      def inspect
        "#<number>"
      end
      alias to_s inspect

      def coerce(other)
        [other.to_f, 2.5]
      end
    end

    def wrong_value(_info)
      case @random.rand(20)
      when 0 then nil
      when 1 then true
      when 2 then 3
      when 3 then 1.5
      when 4 then "12"
      when 5 then :symbol
      when 6 then [1, nil]
      when 7 then { 1 => 2 }
      when 8 then Set.new([1])
      when 9 then 2**31
      when 10 then -(2**63) - 1
      when 11 then 2**63
      when 12 then CLIPS ? 2**31 : 40_000
      when 13 then CLIPS ? 2**32 : 200
      when 14 then "\xFF\x80".b
      when 15 then Number.new
      when 16 then Object
      when 17 then "0011223344556677-8899-aabbccddeeff-1"
      when 18 then "größer €\xFF"
      else pick(@shapes.classes).allocate
      end
    end
  end
end
