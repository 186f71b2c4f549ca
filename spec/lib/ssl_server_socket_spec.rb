# frozen_string_literal: true

require "socket"
require "timeout"
require_relative "../support/certificates"
require_relative "../support/child"
require_relative "../support/servers"

RSpec.describe Thrift::Native::Impl::SSLServerSocket do
  def listening(context: Certificates.server_context, **options)
    server = Thrift::SSLServerSocket.new("127.0.0.1", 0, context, **options)
    server.listen
    yield server
  ensure
    server&.close
  end

  # Accepts in a thread; the value is what accept returned, or its exception.
  def accepting(server)
    Thread.new do
      server.accept
    rescue StandardError => e
      e
    end
  end

  def connect(server)
    socket = Thrift::SSLSocket.new("localhost", server.port, 5, Certificates.client_context)
    socket.open
    socket
  end

  def descriptors
    GC.start
    Dir.children("/proc/self/fd").size
  end

  it "accepts a Thrift::Socket that has shaken hands, with nodelay and the options" do
    listening(client_timeout: 4, keepalive: true, read_timeout: 3) do |server|
      thread = accepting(server)
      client = connect(server)
      accepted = thread.value
      expect(accepted).to be_an_instance_of(Thrift::Socket)
      expect(accepted.handle).to be_an_instance_of(OpenSSL::SSL::SSLSocket)
      expect(accepted.handle.sync_close).to be(true)
      expect([accepted.timeout, accepted.read_timeout]).to eq([4, 3])
      io = accepted.to_io
      expect([io.getsockopt(:TCP, :NODELAY).bool, io.getsockopt(:SOCKET, :KEEPALIVE).bool]).to eq([true, true])
      client.write("hello")
      expect(accepted.read(5)).to eq("hello")
      client.close
      accepted.close
    end
  end

  it "sets nodelay before it shakes hands" do
    listening(nodelay: true) do |server|
      client = TCPSocket.new("127.0.0.1", server.port)
      seen = nil
      allow(Thrift::Native::Handshakes).to receive(:perform) do |ssl, _timeout|
        seen = ssl.to_io.getsockopt(:TCP, :NODELAY).bool
      end
      server.accept.close
      expect(seen).to be(true)
      client.close
    end
  end

  it "raises an SSLError when the client is silent for too long, and leaks nothing" do
    listening(client_timeout: 0.05) do |server|
      before = descriptors
      client = TCPSocket.new("127.0.0.1", server.port)
      expect(accepting(server).value)
        .to be_an(OpenSSL::SSL::SSLError)
        .and have_attributes(message: "SSL server socket: Timed out accepting TLS connection")
      expect(client.read).to eq("")
      client.close
      expect(descriptors).to eq(before)
    end
  end

  it "raises for garbage, a plain client, one that leaves and one that resets, and goes on" do
    listening(client_timeout: 5) do |server|
      before = descriptors
      rude = [
        ->(io) { io.write("GET / HTTP/1.0\r\n\r\n") },
        ->(io) { io.write("\0\0\0\x11\x80\x01\0\x01\0\0\0\x04ping\0\0\0\0\0") },
        lambda(&:close_write),
        ->(io) { io.write("\x16\x03\x01") && io.setsockopt(Socket::Option.linger(true, 0)) && io.close }
      ]
      rude.each do |rudeness|
        client = TCPSocket.new("127.0.0.1", server.port)
        rudeness.call(client)
        expect(accepting(server).value).to be_an(OpenSSL::SSL::SSLError).or be_a(SystemCallError)
        client.close
      end
      expect(descriptors).to eq(before)
      thread = accepting(server)
      client = connect(server)
      expect(thread.value).to be_a(Thrift::Socket)
      [client, thread.value].each(&:close)
    end
  end

  it "leaks nothing when it's killed or timed out in the handshake" do
    listening(client_timeout: 60) do |server|
      before = descriptors
      client = TCPSocket.new("127.0.0.1", server.port)
      thread = accepting(server)
      # The kernel has handed it over when its queue is empty.
      sleep(0.001) until thread.stop? && descriptors == before + 2
      thread.kill
      thread.join
      expect(client.read).to eq("")
      client.close
      client = TCPSocket.new("127.0.0.1", server.port)
      expect { Timeout.timeout(0.1) { server.accept } }.to raise_error(Timeout::Error)
      expect(client.read).to eq("")
      client.close
      expect(descriptors).to eq(before)
    end
  end

  it "waits for ever without a client_timeout" do
    listening(client_timeout: nil) do |server|
      client = TCPSocket.new("127.0.0.1", server.port)
      thread = accepting(server)
      expect(thread.join(0.2)).to be_nil
      client.close
      expect(thread.value).to be_a(OpenSSL::SSL::SSLError).or be_a(SystemCallError)
    end
  end

  it "keeps the positional context and takes it as a keyword" do
    context = Certificates.server_context
    expect(Thrift::SSLServerSocket.new(1234, nil, context).ssl_context).to equal(context)
    expect(Thrift::SSLServerSocket.new("h", 1234, context, client_timeout: 2))
      .to have_attributes(ssl_context: context, client_timeout: 2)
    expect(Thrift::SSLServerSocket.new("h", 1234, ssl_context: context).ssl_context).to equal(context)
    expect(Thrift::SSLServerSocket.new(1234).to_s).to eq("ssl(socket(:1234))")
  end

  it "adopts a listening socket" do
    server = Thrift::SSLServerSocket.from_fd(TCPServer.new("127.0.0.1", 0), ssl_context: Certificates.server_context)
    server.listen
    thread = accepting(server)
    client = connect(server)
    expect(thread.value).to be_a(Thrift::Socket)
    [client, thread.value, server].each(&:close)
  end

  it "leaks nothing when it can't listen" do
    taken = TCPServer.new("127.0.0.1", 0)
    before = descriptors
    expect { Thrift::SSLServerSocket.new("127.0.0.1", 0, nil).listen }.to raise_error(NoMethodError)
    server = Thrift::SSLServerSocket.new("127.0.0.1", taken.local_address.ip_port, Certificates.server_context)
    expect { server.listen }.to raise_error(Errno::EADDRINUSE)
    expect(descriptors).to eq(before)
    taken.close
  end

  it "gives IO.select the listening socket" do
    listening { |server| expect(server.to_io).to be_a(TCPServer) }
  end
end
