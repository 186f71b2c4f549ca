# frozen_string_literal: true

require "socket"
require_relative "../support/certificates"
require_relative "../support/scheduler"

RSpec.describe Thrift::Native::Impl::SSLSocket do
  # A TLS server of Ruby's own: the block, in a thread, gets each SSLSocket, or the exception of its handshake.
  def tls_server(context = Certificates.server_context)
    tcp = TCPServer.new("127.0.0.1", 0)
    names = Thread::Queue.new
    context.servername_cb = lambda do |(_ssl, name)|
      names << name
      nil
    end
    server = OpenSSL::SSL::SSLServer.new(tcp, context)
    thread = Thread.new { serve(server) }
    yield tcp.local_address.ip_port, names
  ensure
    thread&.kill&.join
    tcp&.close
  end

  # Answers each byte by the same, for one client after the other.
  def serve(server)
    loop do
      ssl = server.accept
      loop { ssl.write(ssl.readpartial(1)) }
    rescue OpenSSL::SSL::SSLError, SystemCallError, EOFError
      ssl&.close
    end
  end

  def client(port, *rest, host: "localhost", timeout: 5, context: Certificates.client_context, **options)
    Thrift::SSLSocket.new(host, port, timeout, context, *rest, **options)
  end

  def failure
    yield
    nil
  rescue Thrift::TransportException => e
    e
  end

  it "opens, verifies, and talks, with and without a timeout" do
    tls_server do |port|
      [nil, 5].each do |timeout|
        socket = client(port, timeout: timeout)
        expect(socket.open).to be_an_instance_of(OpenSSL::SSL::SSLSocket).and equal(socket.handle)
        expect(socket.handle.sync_close).to be(true)
        expect(socket.to_io.getsockopt(:TCP, :NODELAY).bool).to be(true)
        expect(socket.peer_port).to eq(port)
        socket.write("x")
        expect(socket.read(1)).to eq("x")
        socket.close
      end
    end
  end

  it "gives TLS connections the options of TCP" do
    tls_server do |port|
      socket = client(port, keepalive: true, nodelay: false, send_buffer: 20_000)
      socket.open
      io = socket.to_io
      expect([io.getsockopt(:SOCKET, :KEEPALIVE).bool, io.getsockopt(:TCP, :NODELAY).bool,
              io.getsockopt(:SOCKET, :SNDBUF).int]).to eq([true, false, 40_000])
      socket.nodelay = true
      expect(io.getsockopt(:TCP, :NODELAY).bool).to be(true)
      socket.close
    end
  end

  it "raises ALREADY_OPEN on a second open" do
    tls_server do |port|
      socket = client(port)
      handle = socket.open
      expect(failure { socket.open }).to have_attributes(type: Thrift::TransportException::ALREADY_OPEN)
      expect(socket.handle).to equal(handle)
      socket.close
    end
  end

  it "asks for the server's name as the installed thrift does, and for one that it is told" do
    tls_server do |port, names|
      socket = client(port)
      socket.open
      socket.close
      expect(names.empty? ? nil : names.pop).to eq(SpecHelpers.thrift?("0.25") ? "localhost" : nil)

      socket = client(port, host: "127.0.0.1", server_hostname: "localhost")
      expect(socket.server_hostname).to eq("localhost")
      socket.open
      socket.close
      expect(names.pop).to eq("localhost")
    end
  end

  it "refuses a server with another name" do
    tls_server do |port|
      [client(port, host: "127.0.0.1", server_hostname: "other.invalid"),
       client(port, host: "127.0.0.1", server_hostname: "other.invalid", timeout: nil)].each do |socket|
        error = failure { socket.open }
        expect(error).to have_attributes(type: Thrift::TransportException::NOT_OPEN,
                                         cause: be_an(OpenSSL::SSL::SSLError),
                                         message: "Could not connect to 127.0.0.1:#{port}")
        expect(socket).not_to be_open
      end
    end
  end

  it "refuses a server that nobody vouches for" do
    context = OpenSSL::SSL::SSLContext.new
    context.cert = Certificates.stranger.cert
    context.key = Certificates.stranger.key
    tls_server(context) do |port|
      expect(failure { client(port).open })
        .to have_attributes(type: Thrift::TransportException::NOT_OPEN, cause: be_an(OpenSSL::SSL::SSLError))
    end
  end

  # What the peer does instead of shaking hands.
  def strange_server
    tcp = TCPServer.new("127.0.0.1", 0)
    thread = Thread.new { loop { yield tcp.accept } }
    thread.report_on_exception = false
    tcp.local_address.ip_port.tap { @cleanup = [tcp, thread] }
  end

  after { @cleanup&.tap { |tcp, thread| [thread.kill.join, tcp.close] } }

  it "raises TIMED_OUT when the server is silent, within one deadline" do
    port = strange_server { |io| (@silent ||= []) << io }
    [client(port, timeout: 0.1), client(port, timeout: 60, connect_timeout: 0.1)].each do |socket|
      expect(failure { socket.open })
        .to have_attributes(type: Thrift::TransportException::TIMED_OUT,
                            message: "SSL socket: Timed out establishing session with localhost:#{port}")
      expect(socket).not_to be_open
    end
  end

  it "raises NOT_OPEN for garbage, for a plain server and for a peer that leaves" do
    [->(io) { io.write("HTTP/1.1 400 Bad Request\r\n\r\n") },
     ->(io) { io.readpartial(9000) && io.write("\x80\x01\x00\x02#{"\0" * 60}") },
     lambda(&:close)].each do |rudeness|
      port = strange_server(&rudeness)
      [nil, 5].each do |timeout|
        expect(failure { client(port, timeout: timeout).open })
          .to have_attributes(type: Thrift::TransportException::NOT_OPEN,
                              message: "Could not connect to localhost:#{port}")
      end
      @cleanup.tap { |tcp, thread| [thread.kill.join, tcp.close] }
    end
  end

  it "closes what it opened when it's interrupted" do
    port = strange_server { |io| (@silent ||= []) << io }
    socket = client(port, timeout: 60)
    thread = Thread.new { socket.open }
    sleep(0.001) until @silent && thread.stop?
    thread.kill
    thread.join
    expect(socket).not_to be_open
    peer = @silent.first
    peer.readpartial(9000)
    expect(peer.read).to eq("")
  end

  it "leaves other fibers running" do
    skip "no fiber schedulers" unless Fiber.respond_to?(:set_scheduler)
    port = strange_server { |io| (@silent ||= []) << io }
    order = []
    Scheduler.run do
      Fiber.schedule { failure { client(port, timeout: 0.1).open } && (order << :timed_out) }
      Fiber.schedule { order << :other }
    end
    expect(order).to eq([:other, :timed_out])
  end

  context "with session_reuse" do
    def talk(socket)
      socket.open
      socket.write("x")
      expect(socket.read(1)).to eq("x")
      socket.handle.session_reused?
    ensure
      socket.close
    end

    [:TLS1_2, :TLS1_3].each do |version|
      it "resumes the session when the same socket opens again (#{version})" do
        tls_server do |port|
          context = Certificates.client_context
          context.max_version = OpenSSL::SSL.const_get("#{version}_VERSION")
          socket = client(port, context: context, session_reuse: true)
          expect(Array.new(3) { talk(socket) }).to eq([false, true, true])
        end
      end

      it "resumes the session of another socket with the same context (#{version})" do
        tls_server do |port|
          context = Certificates.client_context
          context.max_version = OpenSSL::SSL.const_get("#{version}_VERSION")
          expect(Array.new(3) { talk(client(port, context: context, session_reuse: true)) }).to eq([false, true, true])
        end
      end
    end

    it "resumes nothing unless asked, and nothing of another context, server or name" do
      tls_server do |port|
        context = Certificates.client_context
        talk(client(port, context: context, session_reuse: true))
        expect(talk(client(port, context: context))).to be(false)
        expect(talk(client(port, session_reuse: true))).to be(false)
        expect(talk(client(port, context: context, server_hostname: "127.0.0.1", session_reuse: true))).to be(false)
        tls_server do |other|
          expect(talk(client(other, context: context, session_reuse: true))).to be(false)
        end
        expect(talk(client(port, context: context, session_reuse: true))).to be(true)
      end
    end

    it "leaves the program's callbacks alone" do
      sessions = []
      context = Certificates.client_context
      context.session_cache_mode = OpenSSL::SSL::SSLContext::SESSION_CACHE_CLIENT
      context.session_new_cb = ->((_ssl, session)) { sessions << session }
      tls_server do |port|
        expect(Array.new(2) { talk(client(port, context: context, session_reuse: true)) }).to eq([false, true])
      end
      expect(sessions).not_to be_empty
    end
  end
end
