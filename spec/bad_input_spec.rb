# frozen_string_literal: true

require "socket"
require_relative "support/fault_proxy"
require_relative "support/servers"

# What peers do that mean harm, or are broken: the connection in question ends with the right exception, nothing else.
RSpec.describe "bad input" do
  # Beyond any limit, or nonsense.
  sizes = { "zero" => 0, "negative" => -1, "most negative" => -2**31, "monstrous" => (2**31) - 1,
            "just too large" => 16_384_001 }

  def thrift_error(type)
    raise_error(Thrift::TransportException) { |e| expect([e.message, e.type]).to eq([e.message, type]) }
  end

  # @return [IO] a connection that speaks no thrift
  def raw(server)
    tcp = TCPSocket.new("127.0.0.1", server.port)
    return tcp unless server.contact.over == :tls

    context = OpenSSL::SSL::SSLContext.new
    tls = OpenSSL::SSL::SSLSocket.new(tcp, context)
    tls.sync_close = true
    tls.connect
  end

  # The server has closed it; waits for that.
  def closed?(io, seconds = 10)
    return false unless io.to_io.wait_readable(seconds)

    io.read_nonblock(1)
    false
  rescue IO::WaitReadable
    # TLS: a record without content, such as a session ticket
    retry
  rescue EOFError, SystemCallError, OpenSSL::SSL::SSLError
    true
  end

  # Connections from before and after work.
  def unharmed(server)
    server.client(timeout: 10) do |witness, _|
      expect(witness.echo(Fixtures.small)).to eq(Fixtures.small)
      yield
      expect(witness.echo(Fixtures.small(2))).to eq(Fixtures.small(2))
    end
    server.client(timeout: 10) { |client| expect(client.echo(Fixtures.small(3))).to eq(Fixtures.small(3)) }
  end

  # @return [String] a call as it goes over a framed transport
  def framed_call(&block)
    inner = Thrift::MemoryBufferTransport.new
    framed = Thrift::FramedTransport.new(inner)
    block.call(Fixtures::Echo::Client.new(Thrift::BinaryProtocolAccelerated.new(framed)))
    inner.read(inner.available)
  end

  # A server of one connection that does as the block says, and a client of it.
  def with_peer(timeout:, transport: Thrift::FramedTransport)
    listener = TCPServer.new("127.0.0.1", 0)
    peer = nil
    trans = transport.new(Thrift::Socket.new("127.0.0.1", listener.addr[1], timeout))
    trans.open
    peer = listener.accept
    peer.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    yield Fixtures::Echo::Client.new(Thrift::BinaryProtocolAccelerated.new(trans)), peer, trans
  ensure
    [trans, peer, listener].compact.each(&:close)
  end

  # Sends pieces until all are sent or the other end is gone.
  # @return [Integer] bytes sent
  def trickle(io, pieces, pause)
    sent = 0
    pieces.each do |piece|
      io.write(piece)
      sent += piece.bytesize
      sleep(pause)
    end
    sent
  rescue SystemCallError, OpenSSL::SSL::SSLError
    sent
  end

  # The reply to blob(size), framed.
  def framed_reply(size)
    inner = Thrift::MemoryBufferTransport.new(framed_call { |client| client.send_blob(size) })
    out = Thrift::MemoryBufferTransport.new
    protocols = [inner, out].map { |m| Thrift::BinaryProtocolAccelerated.new(Thrift::FramedTransport.new(m)) }
    Fixtures::Echo::Processor.new(Fixtures::Handler.new).process(*protocols)
    out.read(out.available)
  end

  [:tcp, :tls].each do |over|
    describe "to a server over #{over}" do
      sizes.each do |name, size|
        [:simple, :threaded, :pool].each do |kind|
          it "closes the connection for a frame of #{name} size, with the #{kind} server" do
            Servers.start(server: kind, over: over) do |server|
              # SimpleServer has one connection at a time.
              around = kind == :simple ? ->(_, &block) { block.call } : method(:unharmed)
              around.call(server) do
                io = raw(server)
                io.write([size].pack("N"))
                expect(closed?(io)).to be(true)
                io.close
              end
              expect(server.client { |client| client.echo(Fixtures.small) }).to eq(Fixtures.small)
              expect(server.failure).to be_nil
            end
          end
        end
      end

      { framed: "GET / HTTP/1.1\r\n\r\n", buffered: "\xff\xfe\x00\x01garbage" * 4, none: "GET / HTTP/1.1\r\n\r\n" }
        .each do |transport, garbage|
        it "closes the connection for garbage, #{transport}" do
          Servers.start(over: over, transport: transport, client_timeout: 1) do |server|
            unharmed(server) do
              io = raw(server)
              io.write(garbage)
              expect(closed?(io)).to be(true)
              io.close
            end
          end
        end
      end

      it "gives up on a byte now and then" do
        Servers.start(over: over, client_timeout: 0.5) do |server|
          io = raw(server)
          io.write([10_000].pack("N"))
          expect(trickle(io, ["x"] * 200, 0.05)).to be < 200
          io.close
        end
      end

      it "waits for a slow but honest client" do
        Servers.start(over: over, client_timeout: 1) do |server|
          call = framed_call { |client| client.notify(Fixtures.bytes(25_000)) }
          io = raw(server)
          expect(trickle(io, call.scan(/.{1,5000}/mn), 0.3)).to eq(call.bytesize)
          expect(server.handler.notified.pop).to eq(Fixtures.bytes(25_000))
          io.close
        end
      end

      it "takes the worker from a client that stops reading" do
        Servers.start(over: over, workers: 1, client_timeout: 0.5) do |server|
          io = raw(server)
          io.write(framed_call { |client| client.send_blob(12_000_000) })
          expect(server.client(timeout: 20) { |client| client.echo(Fixtures.small) }).to eq(Fixtures.small)
          io.close
        end
      end

      it "outlives resets and ends within a frame" do
        Servers.start(over: over, client_timeout: 2) do |server|
          unharmed(server) do
            [true, false].each do |reset|
              io = raw(server)
              io.write([1000].pack("N") + ("x" * 500))
              io.to_io.setsockopt(Socket::Option.linger(true, 0)) if reset
              io.to_io.close
            end
          end
        end
      end
    end
  end

  it "allocates nothing for a size that is only announced" do
    Servers.spawn(native: true, workers: 40) do |server|
      server.client { |client| client.batch(Fixtures.batch) }
      before = server.child.rss
      ios = [16_000_000, (2**31) - 1, -1, 1_195_725_856].flat_map do |size|
        Array.new(8) { raw(server).tap { |io| io.write("#{[size].pack("N")}x") } }
      end
      expect(ios.last(24)).to all(satisfy { |io| closed?(io) })
      expect(server.client { |client| client.echo(Fixtures.small) }).to eq(Fixtures.small)
      expect(server.child.rss - before).to be < 16_384
      ios.each(&:close)
    end
  end

  describe "to a client" do
    sizes.each do |name, size|
      it "raises for a frame of #{name} size" do
        type = size.zero? ? Thrift::TransportException::END_OF_FILE : Thrift::TransportException::UNKNOWN
        with_peer(timeout: 5) do |client, peer, trans|
          peer.write([size].pack("N"))
          expect { client.echo(Fixtures.small) }.to thrift_error(type)
          expect(trans).not_to be_open
        end
      end
    end

    it "gives up on a byte now and then" do
      with_peer(timeout: 0.5) do |client, peer, trans|
        slow = Thread.new { trickle(peer, framed_reply(3000).each_char, 0.05) }
        expect { client.blob(3000) }.to thrift_error(Thrift::TransportException::TIMED_OUT)
        expect(trans).not_to be_open
        expect(slow).to be_alive
        slow.kill.join
      end
    end

    it "waits for a slow but honest server" do
      with_peer(timeout: 1) do |client, peer|
        slow = Thread.new { trickle(peer, framed_reply(25_000).scan(/.{1,5000}/mn), 0.3) }
        expect(client.blob(25_000)).to eq(Fixtures.bytes(25_000))
        slow.join
      end
    end

    it "raises when the server never reads" do
      with_peer(timeout: 0.5) do |client, _, trans|
        expect { client.notify("x".b * 15_000_000) }.to thrift_error(Thrift::TransportException::TIMED_OUT)
        expect(trans).not_to be_open
      end
    end

    {
      # The thrift gem says NOT_OPEN for an end, too.
      { cut: 100 } => Thrift::TransportException::NOT_OPEN,
      { reset: 100 } => Thrift::TransportException::NOT_OPEN,
      { half_open: 100 } => Thrift::TransportException::TIMED_OUT
    }.each do |fault, type|
      [:framed, :buffered, :none].each do |transport|
        it "raises for #{fault.keys.first} within a reply, #{transport}" do
          Servers.start(transport: transport) do |server|
            FaultProxy.start(server.port, down: fault) do |proxy|
              server.client(address: proxy.port, timeout: 0.5) do |client, trans|
                expect { client.blob(50_000) }.to thrift_error(type)
                expect(trans).not_to be_open
              end
            end
            expect(server.client { |client| client.echo(Fixtures.small) }).to eq(Fixtures.small)
          end
        end
      end
    end

    it "takes a reply that comes in single bytes" do
      Servers.start(over: :tls) do |server|
        FaultProxy.start(server.port, up: { one_byte: true }, down: { one_byte: true }) do |proxy|
          server.client(address: proxy.port) { |client| expect(client.item(Fixtures.item)).to eq(Fixtures.item) }
        end
      end
    end
  end

  describe "TLS and plain" do
    it "closes for garbage instead of a handshake" do
      Servers.start(over: :tls, client_timeout: 2) do |server|
        unharmed(server) do
          io = TCPSocket.new("127.0.0.1", server.port)
          io.write("GET / HTTP/1.1\r\n\r\n")
          # An alert comes first.
          expect(Timeout.timeout(10) { io.read.to_s.bytesize }).to be < 100
          io.close
        rescue Errno::ECONNRESET
          io.close
        end
      end
    end

    it "raises for TLS to a plain port" do
      Servers.start(over: :tcp, client_timeout: 1) do |server|
        unharmed(server) do
          tls = Thrift::SSLSocket.new("localhost", server.port, 5, Certificates.client_context)
          expect { tls.open }.to thrift_error(Thrift::TransportException::NOT_OPEN)
          expect(tls).not_to be_open
        end
      end
    end

    it "raises for plain to a TLS port" do
      Servers.start(over: :tls, client_timeout: 1) do |server|
        plain = Thrift::FramedTransport.new(Thrift::Socket.new("127.0.0.1", server.port, 5))
        plain.open
        client = Fixtures::Echo::Client.new(Thrift::BinaryProtocolAccelerated.new(plain))
        expect { client.echo(Fixtures.small) }.to raise_error(Thrift::TransportException)
        expect(plain).not_to be_open
        expect(server.client { |ours| ours.echo(Fixtures.small) }).to eq(Fixtures.small)
      end
    end
  end
end
