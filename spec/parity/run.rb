# frozen_string_literal: true

# What one process does with random classes and values: run by spec/parity/parity_spec.rb once with the thrift gem alone
# and once with ours. Prints a line for each thing tried, `label TAB outcome`.
#
#   ruby run.rb MODE VERSION FIRST_SEED COUNT       MODE: valid, wrong, broken

require "set"
mode, version, first, count = ARGV
gem "thrift", version
verbose, $VERBOSE = $VERBOSE, nil
require "thrift"
require "thrift/native" if ENV["PARITY_NATIVE"] == "1"
$VERBOSE = verbose
abort "thrift's own extension is missing" unless defined?(Thrift::BinaryProtocolAccelerated)
native = ENV["PARITY_NATIVE"] == "1"
abort "not ours" if native && Thrift::Native.status[Thrift::Struct]&.state != :native

require_relative "shapes"
require_relative "describe"

# Gives out a few bytes at a time, whatever is asked for, as a slow connection does.
class Dribble < Thrift::BaseTransport
  attr_reader :bytes

  def initialize(bytes = +"")
    @bytes = bytes.b
    @at = 0
  end

  def open?
    true
  end

  def read(size)
    raise Thrift::TransportException.new(Thrift::TransportException::END_OF_FILE,
                                         "end of the bytes") if @at >= @bytes.bytesize

    part = @bytes.byteslice(@at, [size, 7].min)
    @at += part.bytesize
    part
  end

  def write(bytes)
    @bytes << bytes.b
  end

  def flush; end
  def close; end
end

PROTOCOLS = [Thrift::BinaryProtocol, Thrift::BinaryProtocolAccelerated, Thrift::CompactProtocol].freeze
TRANSPORTS = [:memory, :framed, :buffered, :foreign].freeze

def sink(kind)
  inner = kind == :memory ? Thrift::MemoryBufferTransport.new(+"".b) : Dribble.new
  outer = case kind
          when :framed then Thrift::FramedTransport.new(inner)
          when :buffered then Thrift::BufferedTransport.new(inner)
          else inner
          end
  [inner, outer]
end

def written(kind, inner, outer)
  return outer.read(outer.available) if kind == :memory

  outer.flush
  inner.bytes
end

def source(kind, bytes)
  case kind
  when :memory then Thrift::MemoryBufferTransport.new(bytes.b)
  when :framed then Thrift::FramedTransport.new(Dribble.new([bytes.bytesize].pack("N") + bytes))
  when :buffered then Thrift::BufferedTransport.new(Dribble.new(bytes))
  else Dribble.new(bytes)
  end
end

def attempt
  yield
rescue SystemExit, NoMemoryError
  raise
rescue Exception => e # rubocop:disable Lint/RescueException -- NotImplementedError and SystemStackError too
  type = e.respond_to?(:type) ? e.type : nil
  "#{e.class} #{type} #{e.message.b[/.*/].gsub(/0x\h+/, "0x").inspect}"
end

STRESS = ENV["PARITY_GC"] == "stress"

# Where our own code runs all the way, with a collection at every allocation if wanted.
def strained(kind)
  GC.stress = STRESS && kind == :memory
  yield
ensure
  GC.stress = false
end

@out = $stdout
def tell(label, outcome)
  @out.puts("#{label}\t#{outcome}")
end

# An outcome that must never be, whichever thrift it is.
def broken_rule(label, text)
  tell("RULE #{label}", text)
end

def write_all(seed, round, shapes, native, wrong)
  PROTOCOLS.map do |protocol|
    per_transport = TRANSPORTS.map do |kind|
      value = shapes.value(Random.new(seed * 1000 + round), wrong: wrong)
      before = Describe.call(value)
      inner, outer = sink(kind)
      label = "#{seed}.#{round} #{protocol} #{kind}"
      failed = false
      outcome = attempt do
        begin
          strained(kind) { value.write(protocol.new(outer)) }
        rescue Exception # rubocop:disable Lint/RescueException
          failed = true
          raise
        end
        written(kind, inner, outer)
      end
      tell("#{label} write", failed ? outcome : outcome.unpack1("H*"))
      broken_rule(label, "changed the caller's value") if native && kind != :foreign && before != Describe.call(value)
      if native && failed && kind != :foreign
        left = attempt { written(kind, inner, outer) }
        broken_rule(label, "left #{left.inspect} behind a failed write") unless ["", "\0\0\0\0"].include?(left.to_s.b)
      end
      outcome unless failed
    end
    [protocol, per_transport.first, shapes.value(Random.new(seed * 1000 + round), wrong: wrong).class]
  end
end

def read_one(label, klass, protocol, kind, bytes, where = false, twice: false)
  transport = source(kind, bytes)
  object = klass.new
  outcome = attempt do
    if twice
      object.read(protocol.new(source(:memory, bytes)))
    end
    strained(kind) { object.read(protocol.new(transport)) }
    Describe.call(object)
  end
  outcome += " left #{transport.available}" if where && kind == :memory
  tell(label, outcome)
end

def read_all(seed, round, results)
  results.each do |protocol, bytes, klass|
    next unless bytes

    TRANSPORTS.each do |kind|
      bytes = bytes.b
      read_one("#{seed}.#{round} #{protocol} #{kind} read", klass, protocol, kind, bytes, true)
    end
    read_one("#{seed}.#{round} #{protocol} read twice", klass, protocol, :memory, bytes, true, twice: true)
  end
end

# Messages cut off at every byte, and with one byte changed.
def break_all(seed, round, results)
  random = Random.new(seed)
  results.each do |protocol, bytes, klass|
    next if bytes.nil? || bytes.bytesize > 400

    bytes = bytes.b
    bytes.bytesize.times do |at|
      kind = TRANSPORTS[random.rand(4)]
      read_one("#{seed}.#{round} #{protocol} #{kind} cut at #{at}", klass, protocol, kind, bytes[0, at])
      3.times do
        bad = bytes.dup
        byte = [0, 1, 0x0f, 0x10, 0x7f, 0x80, 0xff, random.rand(256), random.rand(256)][random.rand(9)]
        bad.setbyte(at, byte)
        kind = TRANSPORTS[random.rand(4)]
        read_one("#{seed}.#{round} #{protocol} #{kind} byte #{at} = #{byte}", klass, protocol, kind, bad)
      end
    end
  end
end

# The arguments of `new` that make such a value, and some that it may refuse.
def arguments_for(value, random)
  fields = value.class::FIELDS.values
  given = fields.select { random.rand(3) > 0 }.shuffle(random: random).to_h do |info|
    name = random.rand(2).zero? ? info[:name] : info[:name].to_sym
    [name, value.instance_variable_get("@#{info[:name]}")]
  end
  given[[:unknown, "unknown", 3, nil, Object][random.rand(5)]] = 1 if random.rand(6).zero?
  given.default = 5 if random.rand(6).zero?
  [[given], [given], [given], [], [nil], [[]], [given, 1], [3]][random.rand(8)]
end

def make(label, value, random)
  klass = value.class
  arguments = arguments_for(value, random)
  block = random.rand(4).zero? ? ->(made) { made.instance_variable_set(:@yielded, made.class.to_s) } : nil
  tell("#{label} new", attempt { Describe.call(klass.new(*arguments, &block)) })
end

# Hashes differ from process to process: what our method says is compared with what the stock one says.
def compare(label, value, other, native)
  tell("#{label} ==", attempt {
    [value == other, other == value, value == value.dup, value == nil, value.eql?(other)].inspect
  })
  tell("#{label} hash", attempt {
    [value.hash == other.hash, value.hash.class, value.hash >= 0].inspect
  }) unless value.is_a?(Thrift::Union)
  return unless native && value.respond_to?(:__stock_hash, true)

  ours, stock = attempt { value.hash }, attempt { value.send(:__stock_hash) }
  broken_rule(label, "hash #{ours} for #{stock}") unless ours == stock
end

def make_all(seed, round, shapes, native, wrong)
  random = Random.new(seed * 1000 + round)
  value, other = Array.new(2) { shapes.value(Random.new(seed * 1000 + round), wrong: wrong) }
  return if value.is_a?(Thrift::Union)

  make("#{seed}.#{round}", value, random)
  other = shapes.value(random, wrong: wrong) if random.rand(3).zero?
  field = value.class::FIELDS.values.sample(random: random)
  other.instance_variable_set("@#{field[:name]}", 77) if field && random.rand(3).zero?
  compare("#{seed}.#{round}", value, other, native)
end

# Ours must come through whatever the collector does.
GC.auto_compact = true if ENV["PARITY_GC"] == "compact"

first.to_i.upto(first.to_i + count.to_i - 1) do |seed|
  shapes = Shapes.new(seed)
  Integer(ENV["PARITY_ROUNDS"] || (mode == "broken" ? 2 : 4)).times do |round|
    case mode
    when "valid"
      read_all(seed, round, write_all(seed, round, shapes, native, false))
      make_all(seed, round, shapes, native, false)
    when "wrong"
      write_all(seed, round, shapes, native, true)
      make_all(seed, round, shapes, native, true)
    when "broken"
      out, @out = @out, File.open(File::NULL, "w")
      results = write_all(seed, round, shapes, native, false)
      @out = out
      break_all(seed, round, results)
    end
  end
end
