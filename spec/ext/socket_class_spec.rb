# frozen_string_literal: true

require_relative "../support/child"
require_relative "../support/pairs"
require_relative "../support/transport_script"

RSpec.describe "ext/thrift_native/socket_class.c" do
  include Pairs

  it "answers as the stock gem does" do
    seeds = (1..15).to_a
    expect(TransportScript.run(:socket, seeds)).to eq(TransportScript.stock(:socket, seeds))
  end

  it "is what the class runs" do
    expect(Thrift::Native.status[Thrift::Socket].state).to eq(:native)
    [:read, :read_all, :write].each do |name|
      expect(Thrift::Socket.instance_method(name).source_location).to be_nil
    end
  end

  describe "closed" do
    it "refuses to read and write" do
      socket = Thrift::Socket.new("127.0.0.1", 1)
      [[:read, 1], [:read_all, 1], [:write, "x"], [:read, 0], [:write, nil]].each do |call|
        error = transport_error { socket.send(*call) }
        expect([error.type, error.message]).to eq([1, "closed stream"])
      end
      expect(socket.read_all(0)).to eq("")
      expect(transport_error { socket.read_all(-1) }.type).to eq(5)
    end

    it "refuses when only the handle was closed" do
      tcp_pair do |socket, _|
        socket.handle.close
        expect(transport_error { socket.read(1) }.message).to eq("closed stream")
        expect(transport_error { socket.write("x") }.message).to eq("closed stream")
      end
    end
  end

  describe "#read" do
    it "gives what is there, at most what is asked for" do
      tcp_pair do |socket, peer|
        peer.write("abcdef")
        expect(socket.read(4)).to eq("abcd")
        bytes = socket.read(400)
        expect([bytes, bytes.encoding, bytes.frozen?]).to eq(["ef", Encoding::BINARY, false])
      end
    end

    it "gives more than 64 KiB if there is more" do
      socket, peer = unix_pair
      socket.handle.setsockopt(:SOCKET, :RCVBUF, 1 << 20)
      peer.setsockopt(:SOCKET, :SNDBUF, 1 << 20)
      peer.write("x" * 150_000)
      expect(socket.read(1 << 30).bytesize).to eq(150_000)
      peer.close
    end

    it "gives the bytes that came, however few of the many that were asked for" do
      tcp_pair do |socket, peer|
        [1, 5, 23, 24, 500].each do |count|
          bytes = Random.bytes(count)
          peer.write(bytes)
          expect(socket.read(1 << 20)).to eq(bytes)
        end
      end
    end

    it "sees the IO's own buffer first" do
      tcp_pair do |socket, peer|
        peer.write("line\nabcdef")
        expect(socket.handle.gets).to eq("line\n")
        expect(socket.read(3) + socket.read_all(3)).to eq("abcdef")
      end
    end

    it "closes at the end of the stream" do
      tcp_pair do |socket, peer|
        peer.write("ab")
        peer.close
        expect(socket.read(5)).to eq("ab")
        error = transport_error { socket.read(5) }
        expect([error.type, error.message, error.cause.class]).to eq([1, "end of file reached", EOFError])
        expect(socket.open?).to be(false)
        expect(socket.handle).to be_nil
      end
    end

    it "closes after a reset" do
      tcp_pair do |socket, peer|
        peer.setsockopt(Socket::Option.linger(true, 0))
        peer.close
        error = transport_error { socket.read(5) }
        expect([error.type, error.message, error.cause.class])
          .to eq([1, "Connection reset by peer", Errno::ECONNRESET])
        expect(socket.open?).to be(false)
      end
    end

    it "closes when time is up, and says for what" do
      tcp_pair(timeout: 0.05) do |socket, peer|
        error = transport_error { socket.read(7) }
        expect([error.type, error.message])
          .to eq([3, "Socket: Timed out reading 7 bytes from 127.0.0.1:#{peer.local_address.ip_port}"])
        expect(socket.open?).to be(false)
      end
    end

    it "closes and tells as 0.25 does when it is asked for nothing" do
      tcp_pair { |socket, _| expect(transport_error { socket.read(-1) }.type).to eq(1) } if SpecHelpers.thrift?("0.25")
      tcp_pair do |socket, peer|
        peer.write("a")
        error = transport_error { socket.read(0) }
        expect([error.type, error.message]).to match([0, /Socket: Could not read 0 bytes from/])
      end
    end
  end

  describe "#read_all" do
    it "says how much was missing when time is up" do
      tcp_pair(timeout: 0.05) do |socket, peer|
        peer.write("abc")
        expect(transport_error { socket.read_all(10) }.message).to start_with("Socket: Timed out reading 7 bytes from")
      end
    end

    it "refuses a negative size and leaves the connection alone" do
      tcp_pair do |socket, _|
        expect(transport_error { socket.read_all(-1) }.type).to eq(5)
        expect(socket.open?).to be(true)
      end
    end
  end

  describe "#write" do
    it "returns how many bytes it wrote: all" do
      tcp_pair do |socket, peer|
        expect(socket.write("caf\u00e9".dup)).to eq(5)
        expect(socket.write("caf\u00e9")).to eq(5)
        expect(socket.write("")).to eq(0)
        reader = Thread.new { peer.read(3_000_010) }
        expect(socket.write("x" * 3_000_000)).to eq(3_000_000)
        expect(reader.value.bytesize).to eq(3_000_010)
      end
    end

    it "closes when the peer is gone" do
      tcp_pair do |socket, peer|
        peer.setsockopt(Socket::Option.linger(true, 0))
        peer.close
        error = transport_error { 3.times { socket.write("x") } }
        expect(error.type).to eq(1)
        expect(error.cause).to be_a(SystemCallError)
        expect(socket.open?).to be(false)
      end
    end

    it "closes when the peer doesn't read and time is up" do
      tcp_pair(timeout: 0.1) do |socket, _|
        error = transport_error { socket.write("x" * 20_000_000) }
        expect([error.type, error.message]).to match([3, /\ASocket: Timed out writing 20000000 bytes to 127/])
        expect(socket.open?).to be(false)
      end
    end
  end

  describe "what programs do with it" do
    it "takes any number for a timeout" do
      odd = Class.new do
        def to_f
          0.05
        end

        def nil?
          false
        end
      end
      [0.05, Rational(1, 20), odd.new].each do |timeout|
        tcp_pair do |socket, _|
          socket.timeout = timeout
          expect(transport_error { socket.read(1) }.type).to eq(3)
        end
      end
      tcp_pair do |socket, peer|
        [nil, 0, Float::INFINITY, 1e300].each do |timeout|
          socket.timeout = timeout
          reader = sleeping_thread { socket.read(1) }
          peer.write("x")
          expect(reader.value).to eq("x")
        end
      end
    end

    it "reads and writes handles of other kinds as the stock method does" do
      reader, writer = IO.pipe
      socket = Thrift::Socket.new("pipe", 0)
      socket.handle = reader
      writer.write("abc")
      expect(socket.read(2) + socket.read_all(1)).to eq("abc")
      socket.close
      handle = double("handle", closed?: false, close: nil)
      expect(handle).to receive(:readpartial).with(17).and_return("from a double")
      expect(handle).to receive(:write).with("to a double").and_return(11)
      socket.handle = handle
      expect(socket.read(17)).to eq("from a double")
      expect(socket.write("to a double")).to eq(11)
      writer.close
    end

    it "lets subclasses and singletons override anything" do
      subclass = Class.new(Thrift::Socket) do
        def read(size)
          super(size).upcase
        end

        def write(string)
          super("<#{string}>")
        end
      end
      socket = subclass.new("pair", 0, 5)
      socket.handle, peer = UNIXSocket.pair
      peer.write("abcdef")
      expect(socket.read_all(2)).to eq("AB")
      socket.write("x")
      expect(peer.readpartial(10)).to eq("<x>")
      other = Thrift::Socket.new("pair", 0, 5)
      other.handle, far = UNIXSocket.pair
      def other.read(size)
        super(size).reverse
      end
      far.write("abc")
      expect(other.read_all(3)).to eq("cba")
      framed = Thrift::FramedTransport.new(other)
      far.write("\3\0\0\0")
      far.write("abc")
      expect(framed.read_all(3)).to eq("cba")
    end

    it "reads and writes frozen" do
      socket, peer = unix_pair
      peer.write("abcd")
      expect(socket.freeze.read(2)).to eq("ab")
      expect(socket.write("x")).to eq(1)
    end

    it "stands on one handle with another Thrift::Socket" do
      socket, peer = unix_pair
      other = Thrift::Socket.new("pair", 0, 5)
      other.handle = socket.handle
      peer.write("abcd")
      expect(socket.read(2) + other.read(2)).to eq("abcd")
      other.close
      expect(transport_error { socket.read(1) }.message).to eq("closed stream")
    end
  end

  it "obeys patches made before and after" do
    patch = <<~RUBY
      class Thrift::Socket
        alias_method :plain_read, :read
        def read(size)
          plain_read(size).upcase
        end
      end
      module Loud
        def write(string)
          super(string + "!")
        end
      end
      Thrift::Socket.prepend(Loud)
    RUBY
    use = <<~RUBY
      require "socket"
      socket = Thrift::Socket.new("pair", 0, 5)
      socket.handle, peer = UNIXSocket.pair
      peer.write([3].pack("N") + "abc")
      puts Thrift::FramedTransport.new(socket).read_all(3)
      Thrift::BufferedTransport.new(socket).tap { |buffered| buffered.write("x") }.flush
      puts peer.readpartial(10)
    RUBY
    ["require 'thrift'\n#{patch}\nrequire 'thrift/native'\n", "require 'thrift/native'\n#{patch}\n"].each do |order|
      result = Child.run(order + use)
      expect(result.out).to eq("ABC\nx!\n"), result.to_s
    end
  end
end
