# frozen_string_literal: true

require "logger"
require "openssl"
require "tmpdir"
require_relative "../fixtures/load"
require_relative "certificates"
require_relative "child"

# Echo servers on this host, in threads of this process or in a child process, and clients for them.
#
#   Servers.start(server: :pool, transport: :framed, protocol: :binary, over: :tls) do |server|
#     server.client { |client| client.echo(Fixtures.small) }
#   end
module Servers
  KINDS = [:simple, :threaded, :pool, :nonblocking].freeze
  TRANSPORTS = [:framed, :buffered, :none].freeze
  PROTOCOLS = [:binary, :accelerated, :compact, :json].freeze
  OVER = [:tcp, :tls, :unix].freeze

  # What both ends must agree on.
  # @!attribute transport [Symbol] one of TRANSPORTS
  # @!attribute protocol [Symbol] one of PROTOCOLS
  # @!attribute over [Symbol] one of OVER
  # @!attribute address [Integer, String] port on 127.0.0.1, or path
  Contact = Struct.new(:transport, :protocol, :over, :address) do
    # @return [Integer]
    def port
      address
    end

    # A connected client for the block, or to keep.
    # @param timeout [Numeric, nil] seconds
    # @param address [Integer] of something in between
    # @yieldparam client [Fixtures::Echo::Client]
    # @yieldparam trans [Thrift::BaseTransport] the outermost transport
    # @return what the block returned, or [client, transport]
    def client(timeout: 5, address: self.address, context: nil)
      trans = wrap(socket(timeout: timeout, address: address, context: context))
      trans.open
      client = Fixtures::Echo::Client.new(Servers.protocol_factory(protocol).get_protocol(trans))
      return [client, trans] unless block_given?

      begin
        yield client, trans
      ensure
        trans.close
      end
    end

    # @return [Thrift::BaseTransport] not opened
    def socket(timeout: 5, address: self.address, context: nil)
      case over
      when :tcp then Thrift::Socket.new("127.0.0.1", address, timeout)
      when :tls then Thrift::SSLSocket.new("localhost", address, timeout, context || Certificates.client_context)
      when :unix then Thrift::UNIXSocket.new(address, timeout)
      end
    end

    # @return [Thrift::BaseTransport] as this server's clients use it
    def wrap(socket)
      case transport
      when :framed then Thrift::FramedTransport.new(socket)
      when :buffered then Thrift::BufferedTransport.new(socket)
      when :none then socket
      end
    end
  end

  # A server in threads of this process.
  class Running
    # @return [Contact]
    attr_reader :contact
    # @return [Fixtures::Handler]
    attr_reader :handler
    # @return [Thrift::BaseServer]
    attr_reader :server
    # @return [Thrift::BaseServerTransport]
    attr_reader :listener
    # @return [Exception, nil] what ended the serving thread
    attr_reader :failure

    def initialize(server:, listener:, handler:, contact:)
      @server = server
      @listener = listener
      @handler = handler
      @contact = contact
      # Threads stay in the group of the thread that made them, so that all are found again.
      @group = ThreadGroup.new
      serving = Thread.new do
        Thread.stop
        serve
      end
      sleep(0.001) until serving.stop?
      @group.add(serving)
      serving.wakeup
      wait_until_listening(serving)
    end

    def client(**how, &block)
      @contact.client(**how, &block)
    end

    def port
      @contact.port
    end

    # @return [Array<Thread>] all threads that serve
    def threads
      @group.list
    end

    def stop
      # New ones may be made while the others are killed.
      until (threads = @group.list).empty?
        threads.each(&:kill)
        threads.each { |thread| join(thread) }
      end
      @listener.close
    rescue Errno::ENOENT
      nil # the socket's file; stock servers close twice
    end

    private

    def serve
      Thread.current.report_on_exception = false
      @server.serve
    rescue StandardError => e
      @failure = e
    end

    def join(thread)
      thread.join(5) or raise "a server's thread won't die: #{thread.backtrace&.join("\n")}"
    rescue StandardError
      nil # what it died of before
    end

    def wait_until_listening(serving)
      until @listener.handle
        raise "the server ended: #{@failure.inspect}" unless serving.alive?

        sleep(0.001)
      end
      return if @contact.over == :unix

      # By the stock class as well, which has no way to ask.
      @contact.address = @listener.handle.addr[1]
    end
  end

  # A server in a child process.
  class Remote
    # @return [Contact]
    attr_reader :contact
    # @return [Child]
    attr_reader :child

    def initialize(child, contact)
      @child = child
      @contact = contact
    end

    def client(**how, &block)
      @contact.client(**how, &block)
    end

    def port
      @contact.port
    end

    def pid
      @child.pid
    end
  end

  module_function

  # Starts a server in threads of this process and stops it after the block.
  # @param listener [Thrift::BaseServerTransport, nil] instead of one made from +over+; over TCP or TLS, port 0 is fine
  # @param workers [Integer] of those servers that have a fixed number
  # @param context [OpenSSL::SSL::SSLContext, nil] of the server; by default with an EC certificate
  # @param client_timeout [Numeric, nil] seconds, for accepted sockets; left to the class if not given, and ignored by
  #   a class that can't (before 0.24)
  # @yieldparam [Running]
  def start(server: :pool, transport: :framed, protocol: :accelerated, over: :tcp, listener: nil, workers: 4,
            handler: Fixtures::Handler.new, context: nil, **listening)
    Dir.mktmpdir("echo") do |dir|
      path = File.join(dir, "socket")
      listener ||= listener(over, path, context, **listening)
      contact = Contact.new(transport, protocol, over, path)
      running = Running.new(
        server: build(server, listener, transport, protocol, workers, handler),
        listener: listener, handler: handler, contact: contact
      )
      begin
        yield running
      ensure
        running.stop
      end
    end
  end

  # Starts a server in a child process and ends it after the block.
  # @param native [Boolean] with ours; else stock
  # @param setup [String] Ruby to run before the server is made
  # @param env [Hash] of the child
  # @yieldparam [Remote]
  def spawn(native:, server: :pool, transport: :framed, protocol: :accelerated, over: :tcp, workers: 4, setup: "",
            env: {}, program: [], **listening)
    code = <<~RUBY
      #{preamble(native)}
      require #{__FILE__.inspect}
      #{setup}
      Servers.start(server: :#{server}, transport: :#{transport}, protocol: :#{protocol}, over: :#{over},
                    workers: #{workers}, **#{listening.inspect}) do |server|
        $stdout.sync = true
        puts server.contact.address, Certificates.authority.cert.to_pem.inspect
        # Ends with its parent.
        $stdin.read
        abort "the server ended: \#{server.failure.full_message}" if server.failure
      end
    RUBY
    Child.start(code, env: { "THRIFT_NATIVE" => native ? nil : "0" }.merge(env), program: program) do |child|
      contact = RemoteContact.new(transport, protocol, over, child.gets.chomp)
      contact.address = contact.address.to_i unless over == :unix
      contact.authority = OpenSSL::X509::Certificate.new(child.gets.chomp.undump)
      yield Remote.new(child, contact)
    end
  end

  # @return [String] Ruby that loads the thrift gem of this process, with or without ours
  def preamble(native)
    version = Gem.loaded_specs.fetch("thrift").version
    <<~RUBY
      gem "thrift", "= #{version}"
      require #{(native ? "thrift/native" : "thrift").inspect}
    RUBY
  end

  def listener(over, path, context, **options)
    type = { tcp: Thrift::ServerSocket, tls: Thrift::SSLServerSocket, unix: Thrift::UNIXServerSocket }.fetch(over)
    options = {} unless type.instance_method(:initialize).parameters.any? { |kind, _| kind.to_s.start_with?("key") }
    args = {
      tcp: ["127.0.0.1", 0], tls: ["127.0.0.1", 0, context || Certificates.server_context], unix: [path]
    }.fetch(over)
    type.new(*args, **options)
  end

  def build(kind, listener, transport, protocol, workers, handler)
    processor = Fixtures::Echo::Processor.new(handler)
    args = [processor, listener, transport_factory(transport), protocol_factory(protocol)]
    case kind
    when :simple then Thrift::SimpleServer.new(*args)
    when :threaded then Thrift::ThreadedServer.new(*args)
    when :pool then Thrift::ThreadPoolServer.new(*args, workers)
    when :nonblocking then Thrift::NonblockingServer.new(*args, workers, Logger.new(IO::NULL))
    end
  end

  def transport_factory(name)
    {
      framed: Thrift::FramedTransportFactory, buffered: Thrift::BufferedTransportFactory,
      none: Thrift::BaseTransportFactory
    }.fetch(name).new
  end

  def protocol_factory(name)
    {
      binary: Thrift::BinaryProtocolFactory, accelerated: Thrift::BinaryProtocolAcceleratedFactory,
      compact: Thrift::CompactProtocolFactory, json: Thrift::JsonProtocolFactory
    }.fetch(name).new
  end

  private_class_method :build

  # Of a server in another process, whose certificates are its own.
  class RemoteContact < Contact
    # @return [OpenSSL::X509::Certificate]
    attr_accessor :authority

    def socket(timeout: 5, address: self.address, context: nil)
      super(timeout: timeout, address: address, context: context || trusting)
    end

    private

    def trusting
      return unless over == :tls

      OpenSSL::SSL::SSLContext.new.tap do |made|
        made.verify_mode = OpenSSL::SSL::VERIFY_PEER
        made.cert_store = Certificates.store(authority)
      end
    end
  end
end
