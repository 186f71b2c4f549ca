# frozen_string_literal: true

require "thrift/native"
require_relative "programs"

# They read what we write, and we read what they write.
RSpec.describe "Interoperation", :ext do
  before(:all) do
    Interop.load
  rescue Interop::Missing => e
    skip("#{e.message} is missing")
  end

  def leaf(number)
    Interop::Leaf.new(number: number, text: number.even? ? "leaf #{number}" : nil)
  end

  def values
    all = Interop::All
    edges = [-2**63, -2**31 - 1, -2**31, -32_769, -1, 0, 1, 127, 128, 16_383, 16_384, 2**31 - 1, 2**31, 2**63 - 1]
    doubles = [0.0, -0.0, 1.5, -1e308, 5e-324, Float::INFINITY, -Float::INFINITY]
    [
      all.new,
      all.new(yes: true, no: false, small: -128, medium: -32_768, large: -2**31, huge: -2**63, number: -0.0),
      all.new(yes: false, no: true, small: 127, medium: 32_767, large: 2**31 - 1, huge: 2**63 - 1, number: 1e300),
      all.new(text: "gr\u00fc\u00df \u20ac \u{1f600}", bytes: (0..255).to_a.pack("C*"), colour: Interop::Colour::GREEN),
      all.new(text: "", bytes: "".b, flags: [], integers: [], doubles: [], texts: [], numbers: Set[], counts: {},
              lists: {}, leaves: [], nested: []),
      all.new(flags: [true, false, true] * 20, integers: edges, doubles: doubles, texts: Array.new(40) { |n| "t" * n }),
      all.new(numbers: Set.new(-50..50), counts: Array.new(100) { |n| ["key #{n}", n] }.to_h,
              lists: { -5 => [leaf(1)], 2**40 => [leaf(2), leaf(3)], 0 => [] }),
      all.new(leaf: leaf(7), leaves: Array.new(20) { |n| leaf(n) }, choice: Interop::Choice.new(:leaf, leaf(2)),
              trouble: Interop::Trouble.new(message: "no", code: -3), far: 12),
      all.new(nested: [[], [{}, { "a" => Set["x", "y"], "b" => Set[] }]], choice: Interop::Choice.new(:number, -1)),
      all.new(text: "long " * 20_000, bytes: "\0\xff".b * 40_000, texts: ["x" * 65_536],
              choice: Interop::Choice.new(:text, "t"))
    ]
  end

  factories = { "binary" => Thrift::BinaryProtocolAcceleratedFactory, "compact" => Thrift::CompactProtocolFactory }

  def expect_exchange(factory)
    messages = values.map { |value| Thrift::Serializer.new(factory.new).serialize(value) }
    answers = yield messages
    expect(answers.size).to eq(values.size)
    answers.zip(values, messages) do |answer, value, message|
      expect(Thrift::Deserializer.new(factory.new).deserialize(Interop::All.new, answer)).to eq(value)
      expect(answer.bytesize).to eq(message.bytesize) # sets and maps may come in another order
    end
  rescue Interop::Missing => e
    skip("#{e.message} is missing")
  end

  factories.each do |protocol, factory|
    it "with Python, #{protocol}" do
      expect_exchange(factory) { |messages| Interop.python(protocol, messages) }
    end

    it "with C++, #{protocol}" do
      expect_exchange(factory) { |messages| Interop.cpp(protocol, messages) }
    end
  end

  { "accelerated" => "binary", "compact accelerated" => "compact" }.each do |protocol, name|
    it "with Python, #{protocol}" do
      expect_exchange(factories.fetch(name)) { |messages| Interop.python(protocol, messages) }
    end
  end
end
