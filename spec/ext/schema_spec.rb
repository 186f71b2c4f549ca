# frozen_string_literal: true

require "thrift/native"
require_relative "../fixtures/load"

# What is remembered of struct classes, and what that costs.
RSpec.describe "Schemas" do
  def struct_class
    Class.new do
      include Thrift::Struct
      include Thrift::Struct_Union
      const_set(:FIELDS, { 1 => { type: Thrift::Types::I32, name: "a" },
                           2 => { type: Thrift::Types::LIST, name: "l", element: { type: Thrift::Types::I32 } } })
      def struct_fields
        self.class::FIELDS
      end

      def validate; end
      Thrift::Struct.generate_accessors(self)
    end
  end

  def use(klass)
    struct = klass.new(a: 1, l: [1, 2])
    copy = Thrift::Deserializer.new.deserialize(klass.new, Thrift::Serializer.new.serialize(struct))
    raise "not equal" unless copy == struct && copy.hash == struct.hash
  end

  def alive
    3.times { GC.start }
    ObjectSpace.each_object(Class).count
  end

  it "go with their classes" do
    300.times { use(struct_class) }
    before = alive
    600.times { use(struct_class) }
    expect(alive - before).to be < 200
  end

  it "are those of their own class, when it's a copy of another one" do
    klass = struct_class
    use(klass)
    copy = klass.dup
    use(copy)
    struct = copy.new(l: [3], a: 4)
    use(klass)
    expect([struct.a, struct.l]).to eq([4, [3]])
  end

  it "survive collections while they are made" do
    klass = struct_class
    gc_stress { use(klass) }
  end

  it "leave the hooks of a class alone" do
    log = []
    klass = struct_class
    klass.define_singleton_method(:method_added) { |name| log << name }
    use(klass)
    klass.class_eval { def another; end }
    klass.send(:remove_method, :validate)
    klass.class_eval { def validate; end }
    expect(log).to eq(%i[another validate])
  end

  describe "and memory:" do
    before { GC.disable }
    after { GC.enable }

    def objects
      3.times { yield }
      before = GC.stat(:total_allocated_objects)
      100.times { yield }
      (GC.stat(:total_allocated_objects) - before) / 100
    end

    [Thrift::BinaryProtocolAcceleratedFactory, Thrift::CompactProtocolFactory,
     Thrift::BinaryProtocolFactory].each do |factory|
      it "one object to write, with #{factory}" do
        serializer = Thrift::Serializer.new(factory.new)
        item = Fixtures.item
        expect(objects { serializer.serialize(item) }).to eq(1)
      end

      it "what the caller gets to read, with #{factory}" do
        bytes = Thrift::Serializer.new(factory.new).serialize(Fixtures.small)
        deserializer = Thrift::Deserializer.new(factory.new)
        expect(objects { deserializer.deserialize(Fixtures::Small.new, bytes) }).to eq(2) # the struct and its string
        numbers = Thrift::Serializer.new(factory.new).serialize(Fixtures.nums)
        expect(objects { deserializer.deserialize(Fixtures::Nums.new, numbers) }).to eq(3) # and two lists
      end
    end
  end
end
