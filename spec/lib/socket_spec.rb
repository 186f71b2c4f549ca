# frozen_string_literal: true

require "socket"
require_relative "../support/certificates"
require_relative "../support/scheduler"

RSpec.describe Thrift::Native::Impl::Socket do
  let(:listener) { TCPServer.new("127.0.0.1", 0) }
  let(:port) { listener.local_address.ip_port }

  after { listener.close }

  def failure
    yield
    nil
  rescue Thrift::TransportException => e
    e
  end

  # The lookup gives these addresses, by whichever call the installed thrift makes.
  def resolve_to(*pairs)
    addresses = pairs.map { |ip, number| Addrinfo.tcp(ip, number) }
    stub = allow(Addrinfo).to receive(:foreach)
    addresses.each { |address| stub.and_yield(address) }
    old = addresses.map { |a| ["AF_INET", a.ip_port, a.ip_address, a.ip_address, a.afamily, a.socktype, a.protocol] }
    allow(Socket).to receive(:getaddrinfo).and_return(old)
  end

  # A port where nobody listens.
  def dead_port
    server = TCPServer.new("127.0.0.1", 0)
    server.local_address.ip_port
  ensure
    server.close
  end

  # A port that takes no more connections: further SYNs are dropped.
  def full_port
    server = Socket.new(:INET, :STREAM)
    server.bind(Addrinfo.tcp("127.0.0.1", 0))
    server.listen(0)
    address = server.local_address
    waiting = []
    loop do
      socket = Socket.new(:INET, :STREAM)
      waiting << socket
      break if socket.connect_nonblock(address, exception: false) == :wait_writable && !socket.wait_writable(0.2)
    end
    yield address.ip_port
  ensure
    [server, *waiting].each(&:close)
  end

  def descriptors
    GC.start
    Dir.children("/proc/self/fd").size
  end

  it "opens, and returns the Ruby socket" do
    socket = Thrift::Socket.new("127.0.0.1", port, 5)
    expect(socket.open).to be_a(Socket).and equal(socket.handle)
    expect(socket).to be_open
    socket.close
    expect(socket).not_to be_open
  end

  it "tries every address in turn" do
    resolve_to(["127.0.0.1", dead_port], ["127.0.0.1", port])
    [nil, 5].each do |timeout|
      socket = Thrift::Socket.new("some.where", port, timeout)
      socket.open
      expect(socket.peer_port).to eq(port)
      socket.close
    end
  end

  it "tries every address with buffers set, too" do
    resolve_to(["127.0.0.1", dead_port], ["127.0.0.1", port])
    [nil, 5].each do |timeout|
      socket = Thrift::Socket.new("some.where", port, timeout, send_buffer: 20_000)
      socket.open
      expect(socket.peer_port).to eq(port)
      socket.close
    end
  end

  it "raises NOT_OPEN with the last address's error as its cause" do
    [nil, 5].each do |timeout|
      error = failure { Thrift::Socket.new("127.0.0.1", dead_port, timeout).open }
      expect(error).to have_attributes(type: Thrift::TransportException::NOT_OPEN, cause: be_a(Errno::ECONNREFUSED),
                                       message: match(/\ACould not connect to 127\.0\.0\.1:\d+\z/))
    end
  end

  it "raises NOT_OPEN for a name that nothing resolves" do
    error = failure { Thrift::Socket.new("no such host", 9090, 5).open }
    expect(error).to have_attributes(type: Thrift::TransportException::NOT_OPEN, cause: be_a(SocketError),
                                     message: "Could not connect to no such host:9090")
  end

  it "raises NOT_OPEN without a cause if a name has no address" do
    resolve_to
    expect(failure { Thrift::Socket.new("h", 1).open })
      .to have_attributes(type: Thrift::TransportException::NOT_OPEN, cause: nil, message: "Could not connect to h:1")
  end

  it "raises TIMED_OUT when an address doesn't answer in time" do
    full_port do |number|
      [Thrift::Socket.new("127.0.0.1", number, 0.1), Thrift::Socket.new("127.0.0.1", number, 60, connect_timeout: 0.1),
       Thrift::Socket.new("127.0.0.1", number, 0.1, send_buffer: 9000)].each do |socket|
        expect(failure { socket.open })
          .to have_attributes(type: Thrift::TransportException::TIMED_OUT,
                              message: "Socket: Timed out opening connection to 127.0.0.1:#{number}")
      end
    end
  end

  it "has one deadline for all addresses" do
    full_port do |number|
      resolve_to(["127.0.0.1", number], ["127.0.0.1", port])
      error = failure { Thrift::Socket.new("h", 1, 0.1).open }
      expect(error).to have_attributes(type: Thrift::TransportException::TIMED_OUT)
    end
  end

  it "raises ALREADY_OPEN on a second open, and keeps the connection" do
    socket = Thrift::Socket.new("127.0.0.1", port, 5)
    handle = socket.open
    expect(failure { socket.open }).to have_attributes(type: Thrift::TransportException::ALREADY_OPEN,
                                                       message: "Socket already open")
    expect(socket.handle).to equal(handle)
    expect(handle).not_to be_closed
    socket.close
    expect(socket.open).not_to be_closed
    socket.close
  end

  it "leaks no descriptor, whatever goes wrong" do
    dead = dead_port
    before = descriptors
    3.times { failure { Thrift::Socket.new("127.0.0.1", dead, 1).open } }
    full_port do |number|
      inside = descriptors
      failure { Thrift::Socket.new("127.0.0.1", number, 0.05).open }
      thread = Thread.new { Thrift::Socket.new("127.0.0.1", number, 60, send_buffer: 9000).open }
      sleep(0.01) until thread.stop?
      thread.kill
      thread.join
      expect(descriptors).to eq(inside)
    end
    expect(descriptors).to eq(before)
  end

  it "knows its peer" do
    socket = Thrift::Socket.new("127.0.0.1", port, 5)
    expect(failure { socket.peer_address }).to have_attributes(type: Thrift::TransportException::NOT_OPEN)
    socket.open
    expect([socket.peer_address, socket.peer_port]).to eq(["127.0.0.1", port])
    socket.close
    expect(failure { socket.peer_port }).to have_attributes(type: Thrift::TransportException::NOT_OPEN)
  end

  it "knows whether there is unread input" do
    socket = Thrift::Socket.new("127.0.0.1", port, 5)
    expect(socket).not_to be_unread_input
    socket.open
    peer = listener.accept
    expect(socket).not_to be_unread_input
    peer.write("ab")
    socket.handle.wait_readable(5)
    expect(socket).to be_unread_input
    expect(socket.read(1)).to eq("a")
    expect(socket).to be_unread_input
    expect(socket.read(1)).to eq("b")
    expect(socket).not_to be_unread_input
    socket.handle.ungetbyte("c")
    expect(socket).to be_unread_input
    expect(socket.read(1)).to eq("c")
    peer.close
    socket.handle.wait_readable(5)
    expect(socket).not_to be_unread_input
  ensure
    socket.close
  end

  it "gives IO.select its IO, and raises IOError without one" do
    socket = Thrift::Socket.new("127.0.0.1", port, 5)
    expect { socket.to_io }.to raise_error(IOError, "closed stream")
    handle = socket.open
    expect(socket.to_io).to equal(handle)
    socket.close
  end

  # [option, what times out]
  [[:read_timeout, ->(socket) { socket.read(1) }],
   [:write_timeout, ->(socket) { loop { socket.write("x" * 1_000_000) } }]].each do |name, operation|
    it "has a #{name} of its own" do
      socket = Thrift::Socket.new("127.0.0.1", port, 60, name => 0.05)
      socket.open
      peer = listener.accept
      expect(failure { operation.call(socket) }).to have_attributes(type: Thrift::TransportException::TIMED_OUT)
      expect(socket).not_to be_open
      peer.close
    end

    it "takes a #{name} of 0 for none" do
      socket = Thrift::Socket.new("127.0.0.1", port, 0.05, name => 0)
      socket.open
      peer = listener.accept
      thread = Thread.new { failure { operation.call(socket) } }
      expect(thread.join(0.3)).to be_nil
      peer.close
      expect(thread.value).to have_attributes(type: satisfy { |type| type != Thrift::TransportException::TIMED_OUT })
      socket.close
    end
  end

  it "reads and writes with timeouts of its own" do
    socket = Thrift::Socket.new("127.0.0.1", port, nil, read_timeout: 5, write_timeout: 5)
    socket.open
    peer = listener.accept
    expect(socket.write("é")).to eq(2)
    expect(peer.readpartial(9)).to eq("é".b)
    peer.write("xy")
    expect(socket.read(9)).to eq("xy")
    peer.close
    expect(failure { socket.read(1) }).to be_a(Thrift::TransportException)
    expect(socket).not_to be_open
  end

  it "reads what TLS has received already, within the timeout" do
    server = Thrift::SSLServerSocket.new("127.0.0.1", 0, Certificates.server_context)
    server.listen
    accepting = Thread.new { server.accept }
    socket = Thrift::SSLSocket.new("localhost", server.port, 5, Certificates.client_context)
    socket.open
    accepting.value.write("ab")
    socket.timeout = 0.5
    expect([socket.read(1), socket.read(1)]).to eq(%w[a b])
    expect(failure { socket.read(1) }).to have_attributes(type: Thrift::TransportException::TIMED_OUT)
  ensure
    [accepting.value, socket, server].each(&:close)
  end

  it "makes a new connection after the old one failed" do
    socket = Thrift::Socket.new("127.0.0.1", port, 5, keepalive: true)
    socket.open
    listener.accept.close
    failure { socket.read(1) }
    socket.open
    expect(socket.handle.getsockopt(:SOCKET, :KEEPALIVE).bool).to be(true)
    socket.close
  end

  it "opens without stopping the other fibers" do
    skip "no fiber schedulers" unless Fiber.respond_to?(:set_scheduler)
    full_port do |number|
      order = []
      Scheduler.run do
        Fiber.schedule do
          failure { Thrift::Socket.new("127.0.0.1", number, 0.2, send_buffer: 9000).open }
          order << :open
        end
        Fiber.schedule { order << :other }
      end
      expect(order).to eq([:other, :open])
    end
  end
end
