# frozen_string_literal: true

# A Thrift client of the Echo service, told what to do line by line.

require_relative "../support/program"
require "openssl"

module ThriftBenchmark
  # Times are nanoseconds in here, and seconds in what is reported unless the name says otherwise.
  class ClientProgram
    def initialize(options)
      @options = options
    end

    def perform(command)
      case command.fetch("do")
      when "check" then check
      when "open" then open_connection(command)
      when "calls" then calls(command)
      when "close" then close_connection
      when "connections" then connections(command)
      else raise ArgumentError, "unknown command #{command}"
      end
    end

    private

    def nanoseconds
      Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
    end

    def socket
      host = @options.fetch("host")
      port = @options.fetch("port")
      @options["tls"] ? Thrift::SSLSocket.new(host, port, nil, ssl_context) : Thrift::Socket.new(host, port)
    end

    def ssl_context
      @ssl_context ||= OpenSSL::SSL::SSLContext.new.tap do |context|
        context.verify_mode = OpenSSL::SSL::VERIFY_PEER
        context.ca_file = @options.fetch("certificate")
      end
    end

    def connect
      transport = Program.transport(socket)
      transport.open
      [transport, Service.client(Program.protocol_factory.get_protocol(transport))]
    end

    # Every method's answer against what was sent; the digests are compared with the other side's, too.
    def check
      transport, client = connect
      Service::METHODS.map do |method|
        answer = Service.call(client, method).call
        sent = Service.digest(Service.value(method))
        [method, Service.digest(answer) == sent ? sent : "#{method}: the answer is not what was sent"]
      end.to_h
    ensure
      transport&.close
    end

    def open_connection(command)
      @transport, client = connect
      @call = Service.call(client, command.fetch("method"))
      command.fetch("warm_up").times { @call.call }
      GC.start
      {}
    end

    # `count` calls on the open connection, each one timed, with a pause before each one if the command wants one.
    def calls(command)
      call = @call
      pause = command.fetch("pause", 0)
      samples = Array.new(command.fetch("count"), 0)
      before = Program.counters
      samples.each_index do |index|
        sleep(pause) if pause.positive?
        start = nanoseconds
        call.call
        samples[index] = nanoseconds - start
      end
      after = Program.counters
      { "cpu" => after["cpu"] - before["cpu"],
        "objects" => after["objects"] - before["objects"] }.merge(summary(samples))
    end

    def summary(samples)
      samples.sort!
      { "count" => samples.size, "p50" => samples[samples.size / 2] / 1e9,
        "p99" => samples[samples.size * 99 / 100] / 1e9,
        "minimum" => samples.first / 1e9, "sum" => samples.sum / 1e9 }
    end

    def close_connection
      @transport&.close
      @transport = @call = nil
      {}
    end

    # `connections` one after the other, each with `calls` calls. The time of a call, of a whole connection, and errors.
    def connections(command)
      count = command.fetch("connections")
      per_connection = command.fetch("calls")
      called = 0
      errors = []
      start = nanoseconds
      count.times do
        called += one_connection(per_connection)
      rescue Thrift::TransportException, SystemCallError => e
        errors << "#{e.class}: #{e.message}"
      end
      { "seconds" => (nanoseconds - start) / 1e9, "call_seconds" => called / 1e9, "connections" => count,
        "calls" => count * per_connection, "errors" => errors.size, "error" => errors.first }
    end

    # @return [Integer] nanoseconds spent in calls
    def one_connection(calls)
      transport, client = connect
      call = Service.call(client, "echo")
      start = nanoseconds
      calls.times { call.call }
      nanoseconds - start
    ensure
      transport&.close
    end
  end
end

client = ThriftBenchmark::ClientProgram.new(ThriftBenchmark::Program::OPTIONS)
ThriftBenchmark::Program.run { |command| client.perform(command) }
