# frozen_string_literal: true

# A Thrift server over the Echo service. It knows nothing of what is being measured.

require_relative "../support/program"
require "openssl"

module ThriftBenchmark
  # Serves in a thread of its own; the main thread answers the benchmark's questions.
  class ServerProgram
    def initialize(options)
      @options = options
      @listener = listener
    end

    def start
      @thread = Thread.new { server.serve }
      @thread.report_on_exception = true
      # `closed?` and not `handle`: taking the handle may change how a socket is treated.
      sleep 0.01 while @listener.closed? && @thread.alive?
    end

    private

    def listener
      host = @options.fetch("host")
      port = @options.fetch("port")
      @options["tls"] ? Thrift::SSLServerSocket.new(host, port, ssl_context) : Thrift::ServerSocket.new(host, port)
    end

    def ssl_context
      OpenSSL::SSL::SSLContext.new.tap do |context|
        context.cert = OpenSSL::X509::Certificate.new(File.read(@options.fetch("certificate")))
        context.key = OpenSSL::PKey.read(File.read(@options.fetch("key")))
      end
    end

    def server
      klass = Object.const_get(@options.fetch("server"))
      arguments = [Service.processor(@options.fetch("pause", 0)), @listener, Program.transport_factory,
                   Program.protocol_factory]
      arguments << @options["workers"] if @options["workers"] && klass == Thrift::ThreadPoolServer
      klass.new(*arguments)
    end
  end
end

ThriftBenchmark::ServerProgram.new(ThriftBenchmark::Program::OPTIONS).start
ThriftBenchmark::Program.run { |command| raise "unknown command #{command}" }
exit!(0)
