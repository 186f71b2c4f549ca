# frozen_string_literal: true

# Writes and reads the shapes of codec/shapes.rb, with the stock gem alone or with ours, told what to do line by line.

require_relative "../support/program"
require_relative "../support/loops"
require_relative "../codec/shapes"
require "objspace"

module ThriftBenchmark
  # A work is a shape, or "small, anew": the same with a protocol and a transport made for each operation.
  class CodecProgram
    ANEW = /, anew\z/.freeze

    def initialize
      @loops = Loops.new
    end

    def perform(command)
      case command.fetch("do")
      when "check" then check(command["work"], command["protocol"])
      when "time" then { "cpu" => @loops.time(*command.values_at("protocol", "work", "direction", "seconds")) }
      when "export" then export(command["directory"], command["shapes"])
      else raise ArgumentError, "unknown command #{command}"
      end
    end

    private

    # Makes the loops of this work, and describes what they do.
    def check(work, protocol)
      Program::OPTIONS["protocol"] = protocol
      value = Shapes.value(work.sub(ANEW, ""))
      write, read = operations(work, value)
      bytes = write.call
      @loops.add(protocol, work, "write", repeat_write(work, value))
      @loops.add(protocol, work, "read", repeat_read(work, value.class, bytes))
      answer = read.call(bytes)
      { "bytes" => Digest::SHA256.hexdigest(bytes), "size" => bytes.bytesize, "sent" => Service.digest(value),
        "read" => Service.digest(answer), "gets" => Shapes.objects(answer),
        "makes" => Shapes.objects(factory.get_protocol(Thrift::MemoryBufferTransport.new)),
        "write_objects" => @loops.objects(protocol, work, "write"),
        "read_objects" => @loops.objects(protocol, work, "read") }
    end

    def factory
      Program.protocol_factory
    end

    # Once each, by the same calls as in the loops.
    def operations(work, value)
      klass = value.class
      if work.match?(ANEW)
        protocol = protocol_class
        write = lambda do
          transport = Thrift::MemoryBufferTransport.new
          value.write(protocol.new(transport))
          transport.read(transport.available)
        end
        [write, ->(bytes) {
          klass.new.tap { |made|
            made.read(protocol.new(Thrift::MemoryBufferTransport.new(bytes)))
          }
        }]
      else
        [-> { Thrift::Serializer.new(factory).serialize(value).dup },
         ->(bytes) { Thrift::Deserializer.new(factory).deserialize(klass.new, bytes) }]
      end
    end

    def protocol_class
      factory.get_protocol(Thrift::MemoryBufferTransport.new).class
    end

    # No block and no lambda is called inside of the loops: some operations take a tenth of a microsecond.
    def repeat_write(work, value)
      protocol = protocol_class
      serializer = Thrift::Serializer.new(factory)
      if work.match?(ANEW)
        lambda do |count|
          while count.positive?
            value.write(protocol.new(Thrift::MemoryBufferTransport.new))
            count -= 1
          end
        end
      else
        lambda do |count|
          while count.positive?
            serializer.serialize(value)
            count -= 1
          end
        end
      end
    end

    def repeat_read(work, klass, bytes)
      protocol = protocol_class
      deserializer = Thrift::Deserializer.new(factory)
      if work.match?(ANEW)
        lambda do |count|
          while count.positive?
            klass.new.read(protocol.new(Thrift::MemoryBufferTransport.new(bytes)))
            count -= 1
          end
        end
      else
        lambda do |count|
          while count.positive?
            deserializer.deserialize(klass.new, bytes)
            count -= 1
          end
        end
      end
    end

    # What peers start from: the classes, and of each shape the value without Thrift, and its bytes in the binary protocol.
    def export(directory, names)
      File.write(File.join(directory, "schema.json"), JSON.generate(Shapes.schema(names)))
      Program::OPTIONS["protocol"] = "accelerated"
      names.map do |name|
        value = Shapes.value(name)
        plain = Shapes.plain(value)
        File.binwrite(File.join(directory, "#{name}.plain"), Marshal.dump(plain))
        File.binwrite(File.join(directory, "#{name}.thrift"), Thrift::Serializer.new(factory).serialize(value))
        [name, Plain.digest(plain)]
      end.to_h
    end
  end
end

codec = ThriftBenchmark::CodecProgram.new
ThriftBenchmark::Program.run { |command| codec.perform(command) }
