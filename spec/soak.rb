# frozen_string_literal: true

# Messages without end, in all ways that the codec knows, and broken ones among them: soak.rb MESSAGES. Fails if memory
# grows after the first fifth.
require "thrift/native"
require_relative "fixtures/load"

raise "the codec isn't native" unless Thrift::Native.status[Thrift::Struct].state == :native

def resident
  GC.start
  File.read("/proc/self/status")[/^VmRSS:\s+(\d+)/, 1].to_i
end

class Soak
  FACTORIES = [Thrift::BinaryProtocolAcceleratedFactory, Thrift::CompactProtocolFactory, Thrift::BinaryProtocolFactory].map(&:new)
  TRANSPORTS = [->(inner) { inner }, ->(inner) { Thrift::FramedTransport.new(inner) }].freeze

  def initialize
    @values = [Fixtures.small, Fixtures.item, Fixtures.batch(3), Fixtures.nums(20),
               Fixtures::Oops.new(message: "no", code: 3)]
    @pairs = FACTORIES.map { |factory| [factory, Thrift::Serializer.new(factory), Thrift::Deserializer.new(factory)] }
    @random = Random.new(1)
    @turn = 0
  end

  # @return [Integer] messages written and read
  def turn
    factory, serializer, deserializer = @pairs[(@turn += 1) % @pairs.size]
    value = @values[@turn % @values.size]
    bytes = serializer.serialize(value)
    deserializer.deserialize(value.class.new, bytes)
    transport(factory, value) if (@turn % 10).zero?
    broken(factory, value, bytes) if (@turn % 10) == 5
    2
  end

  private

  def transport(factory, value)
    memory = Thrift::MemoryBufferTransport.new(+"".b)
    outer = TRANSPORTS[@turn / 10 % 2].call(memory)
    value.write(factory.get_protocol(outer))
    outer.flush
    value.class.new.read(factory.get_protocol(outer))
  end

  def broken(factory, value, bytes)
    bad = bytes.dup
    bad.setbyte(@random.rand(bad.bytesize), @random.rand(256))
    value.class.new.read(factory.get_protocol(Thrift::MemoryBufferTransport.new(bad)))
  rescue Thrift::Exception, EOFError
    nil
  end
end

wanted = Integer(ARGV.fetch(0))
soak = Soak.new
done = 0
shown = []
10.times do |part|
  done += soak.turn while done < wanted * (part + 1) / 10
  shown << resident
  puts "#{done} messages, #{shown.last} KiB"
  $stdout.flush
end
growth = shown.last - shown[1]
abort "memory grew by #{growth} KiB" if growth > 4096
