# frozen_string_literal: true

# What the child programs that use Thrift have in common.
#
# Parses on Ruby 2.6, because the server may run under JRuby.

require_relative "conversation"
# "plain": the thrift gem as if ours weren't installed.
require(ThriftBenchmark::Conversation::OPTIONS["plain"] ? "thrift" : "thrift/native")
require_relative "service"

module ThriftBenchmark
  module Program
    OPTIONS = Conversation::OPTIONS

    module_function

    # Answers each command by the block's value.
    def run
      Conversation.run("ready" => true, "native" => native) do |command|
        command["do"] == "counters" ? counters : yield(command)
      end
    end

    # What the process has used so far: CPU seconds, objects allocated.
    def counters
      { "cpu" => cpu, "objects" => objects }
    end

    def cpu
      return Process.times.utime + Process.times.stime unless Process.const_defined?(:CLOCK_PROCESS_CPUTIME_ID) # JRuby

      Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
    end

    def objects
      RUBY_ENGINE == "ruby" ? GC.stat(:total_allocated_objects) : 0
    end

    # @return [Hash] what Thrift::Native says of itself
    def native
      return {} unless Thrift.const_defined?(:Native)

      status = Thrift::Native.status
      { "active" => status.active?, "extension" => status.extension.to_s, "tls" => status.tls.to_s,
        "classes" => status.to_h.map { |name, state| [name, state.to_s] }.to_h }
    end

    def transport_factory
      case OPTIONS.fetch("transport")
      when "framed" then Thrift::FramedTransportFactory.new
      when "buffered" then Thrift::BufferedTransportFactory.new
      end
    end

    def transport(socket)
      case OPTIONS.fetch("transport")
      when "framed" then Thrift::FramedTransport.new(socket)
      when "buffered" then Thrift::BufferedTransport.new(socket)
      end
    end

    def protocol_factory
      case OPTIONS.fetch("protocol")
      when "binary" then Thrift::BinaryProtocolFactory.new
      when "accelerated" then accelerated_factory
      when "compact" then Thrift::CompactProtocolFactory.new
      end
    end

    # Without thrift's own extension (JRuby) the accelerated protocol does not exist; the bytes are the same.
    def accelerated_factory
      return Thrift::BinaryProtocolFactory.new unless Thrift.const_defined?(:BinaryProtocolAccelerated)

      Thrift::BinaryProtocolAcceleratedFactory.new
    end
  end
end
