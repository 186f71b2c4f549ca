# frozen_string_literal: true

require "msgpack"

module ThriftBenchmark
  # Hashes and Arrays; there are no sets.
  class MessagePackPeer < Peer
    def version
      "msgpack #{MessagePack::VERSION}"
    end

    def value(_name, plain, _wire)
      Plain.change(plain) { |part| part.is_a?(Set) ? part.to_a : part }
    end

    def write(_name, value)
      MessagePack.pack(value)
    end

    def read(_name, bytes)
      MessagePack.unpack(bytes)
    end

    def repeat_write(_name, value)
      lambda do |count|
        while count.positive?
          MessagePack.pack(value)
          count -= 1
        end
      end
    end

    def repeat_read(_name, bytes)
      lambda do |count|
        while count.positive?
          MessagePack.unpack(bytes)
          count -= 1
        end
      end
    end
  end

  PEER = MessagePackPeer
end
