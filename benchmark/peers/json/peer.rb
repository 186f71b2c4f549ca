# frozen_string_literal: true

require "json"

module ThriftBenchmark
  # Hashes and Arrays by Ruby's own json. JSON has no bytes: what is binary is Base64 from the start, so that making it is
  # not in the figures. It has no sets either, and a map's keys are Strings.
  class JsonPeer < Peer
    def version
      "json #{JSON::VERSION}"
    end

    def value(_name, plain, _wire)
      Plain.change(plain) { |part| part.is_a?(Set) ? part.to_a : [part].pack("m0") }
    end

    def write(_name, value)
      JSON.generate(value)
    end

    def read(_name, bytes)
      JSON.parse(bytes)
    end

    def plain(name, read)
      type = { "type" => "struct", "class" => @schema.fetch("shapes").fetch(name) }
      Plain.restore(@schema, type, read) { |text| text.unpack1("m0") }
    end

    def repeat_write(_name, value)
      lambda do |count|
        while count.positive?
          JSON.generate(value)
          count -= 1
        end
      end
    end

    def repeat_read(_name, bytes)
      lambda do |count|
        while count.positive?
          JSON.parse(bytes)
          count -= 1
        end
      end
    end
  end

  PEER = JsonPeer
end
