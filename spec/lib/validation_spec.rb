# frozen_string_literal: true

require "thrift/native"
require_relative "../fixtures/load"

RSpec.describe "Thrift::Native::Validation", :ext do
  module ValidationSpec # rubocop:disable Lint/ConstantDefinitionInBlock -- the generated code names it
    module Colour
      RED = 1
      VALUE_MAP = { 1 => "RED" }.freeze
      VALID_VALUES = Set.new([RED]).freeze
    end
  end

  fields = {
    1 => { type: Thrift::Types::I32, name: "a" },
    2 => { type: Thrift::Types::BOOL, name: "b" },
    3 => { type: Thrift::Types::I32, name: "c", enum_class: ValidationSpec::Colour }
  }.freeze

  required_a = "raise ::Thrift::ProtocolException.new(::Thrift::ProtocolException::%<type>s, " \
               "'Required field a is unset!') unless @a\n"
  required_b = "raise ::Thrift::ProtocolException.new(::Thrift::ProtocolException::%<type>s, " \
               "'Required field b is unset!') if @b.nil?\n"
  enum_c = "unless @c.nil? || ::ValidationSpec::Colour::VALID_VALUES.include?(@c)\n" \
           "raise ::Thrift::ProtocolException.new(::Thrift::ProtocolException::%<type>s, " \
           "'Invalid value of field c!')\nend\n"
  body = required_a + required_b + enum_c

  def class_with(fields, body, frozen: false)
    Class.new do
      include Thrift::Struct
      include Thrift::Struct_Union
      const_set(:FIELDS, fields)
      def struct_fields
        self.class::FIELDS
      end
      magic = frozen ? "# frozen_string_literal: true\n" : ""
      class_eval("#{magic}def validate\n#{body}end")
      Thrift::Struct.generate_accessors(self)
    end
  end

  def checks(klass)
    Thrift::Native::Validation.checks(klass)
  end

  all = [[:set, "a", nil], [:given, "b", nil], [:enum, "c", ValidationSpec::Colour]]

  %w[UNKNOWN INVALID_DATA].product([false, true]).each do |type, frozen|
    it "knows what the compiler writes, with #{type}#{" and frozen literals" if frozen}" do
      expect(checks(class_with(fields, format(body, type: type), frozen: frozen))).to eq(all)
    end
  end

  it "knows that nothing is to be checked" do
    expect(checks(class_with(fields, ""))).to eq([])
    expect(checks(Fixtures::Small)).to eq([])
  end

  it "knows a method whose types differ" do
    expect(checks(class_with(fields, format(required_a, type: "UNKNOWN") + format(enum_c, type: "INVALID_DATA"))))
      .to eq([all[0], all[2]])
  end

  original = format(body, type: "INVALID_DATA")
  { "another variable" => ["unless @a", "unless @b"], "another condition" => ["unless @a", "if @a"],
    "another exception" => ["Thrift::ProtocolException.new", "Thrift::Exception.new"],
    "another constant" => ["VALID_VALUES", "VALUE_MAP"], "another text" => ["is unset!", "is not set!"],
    "another method" => [".nil? ||", ".zero? ||"], "a statement more" => ["raise ::Thrift", "warn(''); raise ::Thrift"],
    "another field" => ["field b", "field a"] }.each do |name, (from, to)|
    it "doesn't know one with #{name}" do
      changed = original.sub(from, to)
      expect(changed).not_to eq(original)
      expect(checks(class_with(fields, changed))).to be_nil
    end
  end

  it "doesn't know one that is inherited, or behind a prepended one" do
    klass = class_with(fields, original)
    expect(checks(Class.new(klass))).to be_nil
    klass.prepend(Module.new { def validate; end })
    expect(checks(klass)).to be_nil
  end

  describe "the method" do
    let(:klass) { class_with(fields, original) }
    let(:bytes) { ->(struct) { Thrift::Serializer.new.serialize(struct) } }

    def failure(*arguments)
      bytes.call(klass.new(*arguments))
    rescue Thrift::ProtocolException => e
      [e.type, e.message, e.backtrace.first]
    end

    it "is the program's own, and says itself what is wrong" do
      own = klass.instance_method(:validate)
      expect(failure(b: true)).to match([1, "Required field a is unset!", /validate/])
      expect(failure(a: 1, b: nil)).to match([1, "Required field b is unset!", /validate/])
      expect(failure(a: 1, b: false, c: 2)).to match([1, "Invalid value of field c!", /validate/])
      expect(bytes.call(klass.new(a: 1, b: false, c: 1))).to be_a(String)
      expect(klass.instance_method(:validate)).to eq(own)
    end

    it "isn't called when there is nothing to say" do
      bytes.call(klass.new(a: 1, b: true))
      calls = 0
      trace = TracePoint.new(:call) { |point| calls += 1 if point.method_id == :validate }
      trace.enable { bytes.call(klass.new(a: 1, b: true)) }
      expect(calls).to eq(0)
    end

    it "is called again once it's another one, wherever it comes from" do
      struct = klass.new(a: 1, b: true)
      bytes.call(struct)
      seen = []
      # Removed first: Ruby warns of a method that is defined twice.
      redefine = lambda do |name, &body|
        klass.send(:remove_method, name) if klass.method_defined?(name, false)
        klass.send(:define_method, name, &body)
      end
      changes = [
        -> { redefine.call(:validate) { seen << :defined } },
        lambda do
          redefine.call(:other) { seen << :other }
          klass.send(:remove_method, :validate)
          klass.send(:alias_method, :validate, :other)
        end,
        -> { klass.prepend(Module.new { define_method(:validate) { seen << :prepended } }) },
        -> { struct.define_singleton_method(:validate) { seen << :singleton } }
      ]
      changes.each { |change| change.call.then { bytes.call(struct) } }
      expect(seen).to eq(%i[defined other prepended singleton])
    end

    it "is called while it's mocked, and known again afterwards" do
      struct = klass.new(a: 1, b: true)
      bytes.call(struct)
      allow_any_instance_of(klass).to receive(:validate) { raise "mocked" }
      expect { bytes.call(struct) }.to raise_error("mocked")
      RSpec::Mocks.space.reset_all
      expect(bytes.call(struct)).to be_a(String)
    end
  end
end
