# frozen_string_literal: true

require "socket"
require_relative "../support/servers"
require_relative "../support/strace"

RSpec.describe Thrift::Native::Options do
  let(:listener) { TCPServer.new("127.0.0.1", 0) }
  let(:port) { listener.local_address.ip_port }

  after { listener.close }

  def opened(**options)
    socket = Thrift::Socket.new("127.0.0.1", port, 5, **options)
    socket.open
    yield socket, socket.handle
  ensure
    socket.close
  end

  def option(io, level, name)
    io.getsockopt(level, name)
  end

  # name => a value, and how the kernel tells of it
  {
    nodelay: [false, :TCP, :NODELAY, lambda(&:bool), false],
    keepalive: [true, :SOCKET, :KEEPALIVE, lambda(&:bool), true],
    user_timeout: [2.5, :TCP, :USER_TIMEOUT, lambda(&:int), 2500],
    send_buffer: [20_000, :SOCKET, :SNDBUF, lambda(&:int), 40_000],
    receive_buffer: [30_000, :SOCKET, :RCVBUF, lambda(&:int), 60_000]
  }.each do |name, (value, level, constant, read, expected)|
    it "sets #{name} given to the constructor, before opening and while open" do
      opened(name => value) do |given, io|
        expect([given.public_send(name), read[option(io, level, constant)]]).to eq([value, expected])
      end
      socket = Thrift::Socket.new("127.0.0.1", port)
      socket.public_send("#{name}=", value)
      socket.open
      expect(read[option(socket.handle, level, constant)]).to eq(expected)
      socket.close
      opened do |other, io|
        expect(read[option(io, level, constant)]).not_to eq(expected)
        other.public_send("#{name}=", value)
        expect(read[option(io, level, constant)]).to eq(expected)
      end
    end
  end

  it "sets the buffers before connecting, for the window's sake" do
    skip "no strace" unless Strace.available?
    code = <<~RUBY
      #{Servers.preamble(true)}
      $stdout.sync = true
      socket = Thrift::Socket.new("127.0.0.1", #{port}, 5, receive_buffer: 300_000)
      puts "ready"
      $stdin.gets
      socket.open
      puts "open"
      $stdin.gets
    RUBY
    Child.start(code) do |child|
      child.gets
      lines = Strace.lines(child.pid) do
        child.puts
        child.gets
      end
      order = lines.map { |line| line[/SO_RCVBUF|connect\(/] }.compact
      expect(order.first).to eq("SO_RCVBUF")
      expect(order).to include("connect(")
    end
  end

  it "sets keepalive with idle, interval and count" do
    opened(keepalive: { idle: 11, interval: 12, count: 13 }) do |_socket, io|
      expect(option(io, :SOCKET, :KEEPALIVE).bool).to be(true)
      expect([:KEEPIDLE, :KEEPINTVL, :KEEPCNT].map { |name| option(io, :TCP, name).int }).to eq([11, 12, 13])
    end
  end

  it "switches nodelay on unless told" do
    opened { |socket, io| expect([socket.nodelay, option(io, :TCP, :NODELAY).bool]).to eq([true, true]) }
  end

  it "keeps what linger is told" do
    kept = ->(socket) { [:@linger_on, :@linger_seconds].map { |name| socket.instance_variable_get(name) } }
    socket = Thrift::Socket.new("127.0.0.1", port, linger: [true, 7])
    expect(kept[socket]).to eq([true, 7])
    socket.linger(false, 0)
    expect(kept[socket]).to eq([false, 0])
    expect(kept[Thrift::Socket.new("127.0.0.1", port, linger: false)]).to eq([false, 0])
  end

  it "never sets SO_LINGER while the connection is open" do
    opened(linger: [true, 7]) { |_socket, io| expect(option(io, :SOCKET, :LINGER).linger.first).to be(false) }
    opened(linger: [true, 0]) { |_socket, io| expect(option(io, :SOCKET, :LINGER).linger.first).to be(false) }
  end

  it "leaves no trace on a socket without options" do
    stock = Thrift::Socket.allocate
    stock.send(:__stock_initialize, "127.0.0.1", port, 5)
    expect(Thrift::Socket.new("127.0.0.1", port, 5).instance_variables).to match_array(stock.instance_variables)
  end

  it "takes nil for the default" do
    socket = Thrift::Socket.new("127.0.0.1", port, nodelay: nil, read_timeout: nil, linger: nil, keepalive: nil)
    expect([socket.nodelay, socket.read_timeout, socket.keepalive]).to eq([true, nil, nil])
    expect(socket.instance_variable_defined?(:@linger_on)).to be(false)
  end

  it "is shared by nobody" do
    one = Thrift::Socket.new("127.0.0.1", port, keepalive: true)
    two = one.dup
    two.keepalive = false
    expect([one.keepalive, two.keepalive]).to eq([true, false])
  end

  nan = Float::NAN
  nonsense = {
    nodelay: [1, "true", :on],
    keepalive: [1, "yes", { idle: 0 }, { idle: 1.5 }, { interval: -1 }, { count: 128 }, { idle: 40_000 }, { other: 1 }],
    user_timeout: [-1, nan, "3", Float::INFINITY, 3_000_000, Complex(1, 1)],
    send_buffer: [0, -1, 1.5, "1", 2**31],
    receive_buffer: [0, -1, 1.5, "1", 2**31],
    connect_timeout: [-1, nan, "3", Float::INFINITY, :never],
    read_timeout: [-0.1, nan, "3", Float::INFINITY, []],
    write_timeout: [-1, nan, "3", -Float::INFINITY, {}]
  }
  nonsense.each do |name, values|
    it "raises an ArgumentError that names #{name} for nonsense" do
      values.each do |value|
        expect { Thrift::Socket.new("h", 1, 1, name => value) }
          .to raise_error(ArgumentError, /\A#{name}\b/), value.inspect
        expect { Thrift::Socket.new.public_send("#{name}=", value) }.to raise_error(ArgumentError, /\A#{name}\b/)
        next if name == :connect_timeout

        expect { Thrift::ServerSocket.new(0, name => value) }.to raise_error(ArgumentError, /\A#{name}\b/)
      end
    end
  end

  it "raises an ArgumentError that names linger for nonsense" do
    [1, "on", [true], [true, -1], [true, 1.5], [:on, 1], [true, nan], [true, 70_000]].each do |value|
      expect { Thrift::Socket.new("h", 1, 1, linger: value) }.to raise_error(ArgumentError, /\Alinger\b/), value.inspect
      expect { Thrift::ServerSocket.new(0, linger: value) }.to raise_error(ArgumentError, /\Alinger\b/)
    end
    expect { Thrift::Socket.new.linger(true, -1) }.to raise_error(ArgumentError, /\Alinger\b/)
  end

  it "raises an ArgumentError that names the server's options for nonsense" do
    { backlog: [0, -1, 1.5, "9", nan], reuse_port: [1, "yes"], client_timeout: [-1, nan, "5"] }.each do |name, values|
      values.each do |value|
        expect { Thrift::ServerSocket.new(0, name => value) }
          .to raise_error(ArgumentError, /\A#{name}\b/), value.inspect
      end
    end
  end

  it "leaves unknown keywords to Ruby's own words" do
    ours = [
      -> { Thrift::Socket.new("h", 1, 1, foo: 1) }, -> { Thrift::ServerSocket.new(1, foo: 1) },
      -> { Thrift::SSLSocket.new("h", 1, 1, nil, foo: 1) }, -> { Thrift::SSLServerSocket.new(1, foo: 1) },
      -> { Thrift::UNIXSocket.new("p", foo: 1) }, -> { Thrift::UNIXServerSocket.new("p", foo: 1) }
    ]
    ours.each { |made| expect(&made).to raise_error(ArgumentError, "unknown keyword: :foo") }
    expect { Thrift::Socket.new("h", 1, 1, foo: 1, bar: 2) }
      .to raise_error(ArgumentError, "unknown keywords: :foo, :bar")
  end

  it "does nothing about TCP on UNIX sockets" do
    socket = Thrift::UNIXSocket.new("p")
    ours, theirs = UNIXSocket.pair
    socket.handle = ours
    socket.nodelay = false
    socket.keepalive = true
    socket.send_buffer = 20_000
    expect(ours.getsockopt(:SOCKET, :SNDBUF).int).to eq(40_000)
  ensure
    [ours, theirs].each(&:close)
  end
end
