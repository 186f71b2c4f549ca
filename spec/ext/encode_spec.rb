# frozen_string_literal: true

require "thrift/native"
require_relative "../fixtures/load"

RSpec.describe "Writing structs" do
  # Each thread changes all containers of the struct again and again.
  def changing(batch)
    stop = false
    threads = Array.new(3) do |number|
      Thread.new do
        random = Random.new(number)
        until stop
          batch.items.push(Fixtures.item(number))
          batch.items.shift if batch.items.size > 10
          batch.weights[random.rand(50)] = 0.5
          batch.weights.delete(random.rand(50))
        end
      end
    end
    yield
  ensure
    stop = true
    threads.each(&:join)
  end

  it "is whole while other threads change what is in them" do
    factories = [Thrift::BinaryProtocolAcceleratedFactory, Thrift::CompactProtocolFactory].map(&:new)
    batch = Fixtures.batch(5)
    changing(batch) do
      200.times do |turn|
        factory = factories[turn % 2]
        bytes = Thrift::Serializer.new(factory).serialize(batch)
        copy = Thrift::Deserializer.new(factory).deserialize(Fixtures::Batch.new, bytes)
        expect(Thrift::Serializer.new(factory).serialize(copy)).to eq(bytes)
        GC.start if (turn % 50).zero?
      end
    end
  end

  it "leaves no byte behind a failure, in any transport" do
    transports = { memory: ->(memory) { memory }, framed: ->(memory) { Thrift::FramedTransport.new(memory) },
                   buffered: ->(memory) { Thrift::BufferedTransport.new(memory) } }
    transports.each_value do |make|
      [Thrift::BinaryProtocol, Thrift::BinaryProtocolAccelerated, Thrift::CompactProtocol].each do |protocol|
        memory = Thrift::MemoryBufferTransport.new(+"".b)
        transport = make.call(memory)
        good = Fixtures.small
        good.write(protocol.new(transport))
        bad = Fixtures.item
        bad.counts = [1, "two"]
        expect { bad.write(protocol.new(transport)) }.to raise_error(TypeError, "integer argument expected")
        transport.flush
        expected = Thrift::MemoryBufferTransport.new(+"".b)
        make.call(expected).tap { |outer| good.write(protocol.new(outer)) }.flush
        expect(memory.read(memory.available)).to eq(expected.read(expected.available))
      end
    end
  end

  it "takes a message of any size" do
    [100, 32_000, 33_000, 70_000, 3_000_000].each do |size|
      note = Fixtures.bytes(size)
      batch = Fixtures::Batch.new(items: [], weights: {}, note: note)
      bytes = Thrift::Serializer.new.serialize(batch)
      expect(bytes.encoding).to eq(Encoding::BINARY)
      expect(bytes.bytesize).to be_between(size, size + 40)
      copy = Thrift::Deserializer.new.deserialize(Fixtures::Batch.new, bytes)
      expect(copy.note).to eq(note)
      copy.note << "more" # it's the caller's own
      expect(Thrift::Deserializer.new.deserialize(Fixtures::Batch.new, bytes).note).to eq(note)
    end
  end
end
