# frozen_string_literal: true

require "timeout"
require_relative "../support/child"
require_relative "../support/pairs"
require_relative "../support/servers"
require_relative "../support/transport_script"

RSpec.describe "ext/thrift_native/buffered.c" do
  include Pairs

  def ivar(transport, name)
    transport.instance_variable_get(name)
  end

  describe "next to the stock gem" do
    [:buffered, :buffered_socket].each do |kind|
      it "answers the same over a #{kind == :buffered ? "plain object" : "socket"}" do
        seeds = (1..15).to_a
        expect(TransportScript.run(kind, seeds)).to eq(TransportScript.stock(kind, seeds))
      end
    end

    it "is what the class runs" do
      expect(Thrift::Native.status[Thrift::BufferedTransport].state).to eq(:native)
      expect(Thrift::BufferedTransport.instance_method(:read_all).source_location).to be_nil
    end

    it "keeps the order of the instance variables" do
      names = [:@transport, :@wbuf, :@rbuf, :@index]
      expect(Thrift::BufferedTransport.new(nil).instance_variables).to eq(names)
    end
  end

  describe "reading" do
    it "asks an inner transport once for at least 4 KiB" do
      inner = PlainTransport.new("x" * 10_000)
      buffered = Thrift::BufferedTransport.new(inner)
      expect(buffered.read(10) + buffered.read_all(20)).to eq("x" * 30)
      buffered.read_byte
      expect(inner.calls).to eq([[:read, 4096]])
      buffered.read_all(5000)
      expect(inner.calls.last).to eq([:read, 4096])
    end

    it "takes nil from an inner transport for the end" do
      buffered = Thrift::BufferedTransport.new(PlainTransport.new("abc"))
      expect(buffered.read(10)).to eq("abc")
      expect(buffered.read(10)).to eq("")
      [[:read_all, 1], [:read_byte], [:read_into_buffer, "x" * 5, 5]].each do |call|
        error = transport_error { buffered.send(*call) }
        expect([error.type, error.message]).to eq([4, "No more data available"])
      end
    end

    it "takes an empty string from an inner transport for the end" do
      buffered = Thrift::BufferedTransport.new(PlainTransport.new("abc", at_end: ""))
      expect(transport_error { buffered.read_all(4) }.type).to eq(4)
      expect(buffered.read(1)).to eq("")
    end

    it "lets errors of an inner transport pass" do
      buffered = Thrift::BufferedTransport.new(PlainTransport.new("abc", at_end: EOFError.new("gone")))
      expect { buffered.read_all(4) }.to raise_error(EOFError, "gone")
    end

    it "refuses negative sizes and takes zero without reading" do
      inner = PlainTransport.new("abc")
      buffered = Thrift::BufferedTransport.new(inner)
      expect { buffered.read_all(-1) }.to raise_error(Thrift::TransportException, "Negative size")
      expect([buffered.read(0), buffered.read_all(0)]).to eq(["", ""])
      expect(inner.calls).to eq([])
    end

    it "gives binary strings, whatever the inner transport calls its bytes" do
      inner = Object.new
      def inner.read(_size)
        "caf\u00e9 \u20ac"
      end
      buffered = Thrift::BufferedTransport.new(inner)
      bytes = buffered.read_all(12)
      expect([bytes, bytes.encoding]).to eq(["caf\u00e9 \u20accaf".b, Encoding::BINARY])
    end

    it "refuses what is no string" do
      inner = Object.new
      def inner.read(_size)
        42
      end
      expect { Thrift::BufferedTransport.new(inner).read(1) }.to raise_error(TypeError)
    end

    it "reads values of any size from a socket" do
      tcp_pair do |socket, peer|
        buffered = Thrift::BufferedTransport.new(socket)
        [1, 4095, 4097, 65_535, 65_536, 65_537, 140_000, 2_000_000].each do |size|
          bytes = Random.new(size).bytes(size)
          writer = Thread.new { peer.write("#{bytes}!") }
          expect(buffered.read_all(size) == bytes).to be(true)
          expect(buffered.read_byte).to eq(33)
          writer.join
        end
      end
    end

    it "reads a stream in pieces of any size" do
      tcp_pair do |socket, peer|
        stream = Random.new(3).bytes(400_000)
        writer = Thread.new { stream.bytes.each_slice(7001) { |slice| peer.write(slice.pack("C*")) } }
        buffered = Thrift::BufferedTransport.new(socket)
        random = Random.new(4)
        got = "".b
        while got.bytesize < stream.bytesize
          most = [random.rand(1..9000), stream.bytesize - got.bytesize].min
          got << (random.rand(2) == 0 ? buffered.read_all(most) : buffered.read(most))
        end
        expect(got == stream).to be(true)
        writer.join
      end
    end
  end

  describe "writing" do
    it "passes on what was written with one write" do
      inner = PlainTransport.new
      buffered = Thrift::BufferedTransport.new(inner)
      buffered.write("ab")
      buffered.write("cd")
      buffered.flush
      buffered.flush
      expect(inner.calls).to eq([[:write, "abcd"], [:flush], [:flush]])
    end

    it "forgets what could not be sent" do
      inner = PlainTransport.new
      buffered = Thrift::BufferedTransport.new(inner)
      inner.define_singleton_method(:write) { |_| raise IOError, "no" }
      buffered.write("stale")
      expect { buffered.flush }.to raise_error(IOError, "no")
      inner.singleton_class.send(:remove_method, :write)
      buffered.write("fresh")
      buffered.flush
      expect(inner.written).to eq(["fresh"])
    end
  end

  describe "opening and closing" do
    it "flushes first, and closes also if that fails" do
      inner = PlainTransport.new
      buffered = Thrift::BufferedTransport.new(inner)
      buffered.write("last")
      buffered.close
      expect(inner.calls).to eq([[:write, "last"], [:flush], [:close]])
      inner.define_singleton_method(:write) { |_| raise IOError, "no" }
      buffered.write("lost")
      expect { buffered.close }.to raise_error(IOError, "no")
      expect(inner.calls.last(2)).to eq([[:close], [:close]])
    end

    it "closes quietly what is closed already, whatever was written meanwhile" do
      tcp_pair do |socket, peer|
        buffered = Thrift::BufferedTransport.new(socket)
        peer.close
        expect(transport_error { buffered.read_all(1) }.type).to eq(1)
        buffered.write("to nobody")
        expect(buffered.close).to be_nil
        expect(ivar(buffered, :@wbuf)).to eq("")
      end
    end

    [[:@transport, "by itself"], [nil, "by the socket"]].each do |outer, how|
      it "reads nothing of an old connection, closed and opened #{how}" do
        tcp_pair do |socket, peer, server|
          buffered = Thrift::BufferedTransport.new(socket)
          peer.write("old reply")
          buffered.read(3)
          (outer ? buffered : socket).close
          (outer ? buffered : socket).open
          buffered.write("call")
          buffered.flush
          peer = server.accept
          peer.write("new reply")
          expect(buffered.read_all(9)).to eq("new reply")
          peer.close
        end
      end
    end
  end

  it "serves on after a call that was cut inside its arguments" do
    Servers.start(server: :simple, transport: :buffered, protocol: :binary) do |server|
      message = Thrift::MemoryBufferTransport.new
      protocol = Thrift::BinaryProtocol.new(message)
      protocol.write_message_begin("echo", Thrift::MessageTypes::CALL, 1)
      Fixtures.small.write(protocol)
      call = message.read(message.available)
      [call.bytesize / 2, call.bytesize - 3, 3].each do |cut|
        client = TCPSocket.new("127.0.0.1", server.port)
        client.write(call[0, cut])
        client.close_write
        client.read
        client.close
      end
      server.client { |client| expect(client.echo(Fixtures.small)).to eq(Fixtures.small) }
      expect(server.failure).to be_nil
    end
  end

  describe "interrupted" do
    it "is closed, and the next call never gets the old reply" do
      Servers.start(transport: :buffered) do |server|
        server.client(timeout: 10) do |client, transport|
          expect { Timeout.timeout(0.05) { client.sleepy(300) } }.to raise_error(Timeout::Error)
          expect(transport.open?).to be(false)
          transport.open
          expect(client.echo(Fixtures.small(6))).to eq(Fixtures.small(6))
        end
      end
    end

    it "keeps nothing" do
      tcp_pair do |socket, peer|
        buffered = Thrift::BufferedTransport.new(socket)
        buffered.write("half a message")
        peer.write("abc")
        reader = sleeping_thread { buffered.read_all(10) }
        reader.kill.join
        expect([ivar(buffered, :@rbuf), ivar(buffered, :@wbuf), ivar(buffered, :@index)]).to eq(["", "", 0])
        expect(socket.open?).to be(false)
      end
    end
  end

  describe "what programs do with it" do
    it "lets subclasses override anything" do
      subclass = Class.new(Thrift::BufferedTransport) do
        def read(size)
          super(size).upcase
        end

        def write(bytes)
          super("<#{bytes}>")
        end

        def flush
          @wbuf << "!"
          super
        end
      end
      inner = PlainTransport.new("abcdef")
      buffered = subclass.new(inner)
      expect([buffered.read(2), buffered.read_all(3)]).to eq(%w[AB CDE])
      buffered.write("x")
      buffered.close
      expect(inner.written).to eq(["<x>!"])
    end

    it "sends a frame for each write through a transport that makes frames, as SASL transports do" do
      sasl = Class.new(Thrift::BufferedTransport) do
        def write(bytes)
          @transport.write([bytes.bytesize].pack("N") + bytes)
        end

        def read(size)
          if @index >= @rbuf.bytesize
            length, = @transport.read(4).unpack("N")
            @rbuf = @transport.read(length)
            @index = 0
          end
          @index += size
          @rbuf.slice(@index - size, size) || ""
        end
      end
      inner = PlainTransport.new([5].pack("N") + "hello")
      outer = Thrift::BufferedTransport.new(sasl.new(inner))
      outer.write("one")
      outer.write("two")
      outer.flush
      expect(inner.written).to eq([[6].pack("N") + "onetwo"])
      expect(outer.read_all(5)).to eq("hello")
    end

    it "obeys singleton methods and doubles" do
      buffered = Thrift::BufferedTransport.new(PlainTransport.new("abcdef"))
      expect(buffered.read(1)).to eq("a")
      def buffered.read(size)
        super(size).upcase
      end
      expect(buffered.read_all(2)).to eq("BC")
      inner = double("inner")
      expect(inner).to receive(:read).with(4096).once.and_return("xyz")
      expect(Thrift::BufferedTransport.new(inner).read_all(3)).to eq("xyz")
    end

    it "sees what programs put into @rbuf, @index and @wbuf" do
      inner = PlainTransport.new
      buffered = Thrift::BufferedTransport.new(inner)
      buffered.instance_variable_set(:@rbuf, "hello".b)
      buffered.instance_variable_set(:@index, 1)
      expect([buffered.read(2), buffered.read_byte, ivar(buffered, :@index)]).to eq(["el", 108, 4])
      buffered.instance_variable_set(:@wbuf, +"abc")
      buffered.write("d")
      buffered.flush
      expect(inner.written).to eq(["abcd"])
    end

    it "can be copied, dumped, loaded and frozen" do
      buffered = Thrift::BufferedTransport.new(PlainTransport.new("abc"))
      buffered.read(1)
      expect([buffered.dup.read(2), Marshal.load(Marshal.dump(buffered)).read(2), buffered.read(2)]).to eq(%w[bc bc bc])
      expect { buffered.freeze.read(1) }.to raise_error(FrozenError)
    end

    it "works with protocols on plain objects" do
      [Thrift::BinaryProtocol, Thrift::CompactProtocol, Thrift::BinaryProtocolAccelerated,
       Thrift::JsonProtocol].each do |kind|
        plain = PlainReadAllTransport.new
        def plain.read_byte
          read_all(1).ord
        end

        def plain.read_into_buffer(buffer, size)
          read_all(size).each_byte.with_index { |byte, i| buffer.setbyte(i, byte) }
          size
        end
        Fixtures.item.write(kind.new(plain))
        plain.input = plain.written.join
        expect(Fixtures::Item.new.tap { |item| item.read(kind.new(plain)) }).to eq(Fixtures.item)
      end
    end
  end

  describe "patched in a program of its own" do
    patch = <<~RUBY
      class Thrift::BufferedTransport
        alias_method :read_without_log, :read
        def read(size)
          read_without_log(size).upcase
        end
      end
      module Loud
        def flush
          @wbuf << "!"
          super
        end
      end
      Thrift::BufferedTransport.prepend(Loud)
    RUBY
    use = <<~RUBY
      require "stringio"
      buffered = Thrift::BufferedTransport.new(Thrift::IOStreamTransport.new(StringIO.new("abc"), out = StringIO.new))
      puts buffered.read(1), buffered.read_all(2)
      buffered.write("xy")
      buffered.flush
      puts out.string
    RUBY
    { "before" => "require 'thrift'\n#{patch}\nrequire 'thrift/native'\n",
      "after" => "require 'thrift/native'\n#{patch}\n" }.each do |time, order|
      it "obeys an alias chain and a prepended module made #{time} ours was loaded" do
        expect(Child.run(order + use).out).to eq("A\nBC\nxy!\n")
      end
    end
  end
end
