# frozen_string_literal: true

require "spec_helper"
require "timeout"
require "support/child"
require "support/observed_peer"
require "support/scheduler"
require "support/servers"

# Who closes first and as usual is in TIME_WAIT once the peer has closed, too. Who closes by reset isn't.
RSpec.describe "closing connections" do
  before { skip "needs Linux's TCP_INFO" unless File.exist?("/proc/net/tcp") }

  let(:linger_default) { true }

  around do |example|
    before = Thrift::Native.linger_default
    Thrift::Native.linger_default = linger_default
    example.run
  ensure
    Thrift::Native.linger_default = before
  end

  def protocol_on(transport)
    Thrift::BinaryProtocol.new(transport)
  end

  # Yields an open socket, a transport and a client, closes, and tells how the peer saw it.
  #
  #   [:reset or :usual, ObservedPeer::End]
  def close_after(peer, host: "127.0.0.1", wrap: Thrift::FramedTransport, close: :transport)
    socket = Thrift::Socket.new(host, peer.port, 10)
    transport = wrap ? wrap.new(socket) : socket
    transport.open
    said = yield socket, transport, Fixtures::Echo::Client.new(protocol_on(transport))
    wait_for_acknowledgement(io_of(socket)) unless said == :hurry
    close == :transport ? transport.close : socket.close
    expect(socket).not_to be_open
    outcome(peer)
  end

  # As long as something is unacknowledged, no close is by reset: it must not be for that reason only.
  def wait_for_acknowledgement(io)
    waiting = [1].pack("i")
    return if io.nil? || io.closed?

    sleep(0.002) until io.ioctl(0x5411, waiting) && waiting.unpack1("i").zero? # SIOCOUTQ, tcp(7)
  end

  def outcome(peer)
    ended = peer.ended
    [TimeWait.count(peer.port, ended.port).zero? ? :reset : :usual, ended]
  end

  def expect_reset(**how, &block)
    expect_close(:reset, **how, &block)
  end

  def expect_usual(**how, &block)
    expect_close(:usual, **how, &block)
  end

  # Whatever way it is closed, the peer reads a clean end.
  def expect_close(expected, peer: {}, **how)
    ObservedPeer.start(**peer) do |server|
      way, ended = close_after(server, **how) { |*objects| yield(*objects) }
      expect(way).to eq(expected)
      expect(ended.how).to eq(:eof)
      ended
    end
  end

  def call(client)
    expect(client.echo(Fixtures.small)).to eq(Fixtures.small)
  end

  # The socket's IO without the accessor, which counts as taking it.
  def io_of(socket)
    socket.instance_variable_get(:@handle)
  end

  def linger2(io)
    io.getsockopt(Socket::IPPROTO_TCP, 8).int
  end

  describe "by reset" do
    it "after a call and its reply" do
      expect_reset { |_socket, _transport, client| call(client) }
    end

    it "after many of them" do
      expect_reset { |_socket, _transport, client| 20.times { call(client) } }
    end

    it "after a declared exception, which is a reply" do
      expect_reset do |_socket, _transport, client|
        expect { client.fail("oops") }.to raise_error(Fixtures::Oops)
      end
    end

    it "after a oneway call that a later, answered call proves" do
      expect_reset do |_socket, _transport, client|
        client.notify("x")
        call(client)
      end
    end

    it "after several calls whose replies were read later" do
      expect_reset do |_socket, _transport, client|
        3.times { client.send_echo(Fixtures.small) }
        3.times { client.recv_echo }
      end
    end

    it "when the socket itself is closed, below the transport" do
      expect_reset(close: :socket) { |_socket, _transport, client| call(client) }
    end

    it "when linger(true, 0) asks for it" do
      expect_reset do |socket, _transport, client|
        socket.linger(true, 0)
        call(client)
      end
    end

    context "with the default off" do
      let(:linger_default) { false }

      it "when linger(true, 0) asks for it" do
        expect_reset do |socket, _transport, client|
          socket.linger(true, 0)
          call(client)
        end
      end
    end

    it "over IPv6" do
      begin
        TCPServer.new("::1", 0).close
      rescue SystemCallError
        skip "no IPv6 here"
      end
      expect_reset(peer: { host: "::1" }, host: "::1") { |_socket, _transport, client| call(client) }
    end

    it "to any other address of this host" do
      own = Socket.ip_address_list.find { |address| address.ipv4? && !address.ipv4_loopback? }
      skip "this host has no other address" unless own
      expect_reset(peer: { host: own.ip_address }, host: own.ip_address) { |_socket, _transport, client| call(client) }
    end

    Servers::PROTOCOLS.product([:framed, :buffered, :none]).each do |protocol, transport|
      it "with the #{protocol} protocol over #{transport == :none ? "the bare socket" : "#{transport} transports"}" do
        Servers.start(server: :threaded, transport: transport, protocol: protocol) do |server|
          ports = Array.new(20) do
            server.client do |client, trans|
              expect(client.fail("four")).to eq(4)
              io_of(transport == :none ? trans : trans.instance_variable_get(:@transport)).local_address.ip_port
            end
          end
          # The server's threads may still have to close.
          sleep(0.005) while server.threads.size > 1
          expect(ports.sum { |port| TimeWait.count(server.port, port) }).to eq(0)
        end
      end
    end

    it "through a multiplexed protocol" do
      processor = Thrift::MultiplexedProcessor.new
      processor.register_processor("echo", Fixtures::Echo::Processor.new(Fixtures::Handler.new))
      expect_reset(peer: { processor: processor }) do |_socket, transport, _client|
        call(Fixtures::Echo::Client.new(Thrift::MultiplexedProtocol.new(protocol_on(transport), "echo")))
      end
    end
  end

  describe "as usual" do
    it "without a call" do
      expect_usual { nil }
    end

    it "after a oneway call" do
      expect_usual { |_socket, _transport, client| client.notify("x") }
    end

    it "after a call, its reply, and a oneway call" do
      expect_usual do |_socket, _transport, client|
        call(client)
        client.notify("x")
      end
    end

    it "after a oneway call between a call and its reply, which proves nothing" do
      expect_usual do |_socket, _transport, client|
        client.send_echo(Fixtures.small)
        client.notify("x")
        client.recv_echo
      end
    end

    it "after a call that is not answered yet" do
      expect_usual(peer: { answers: false }) { |_socket, _transport, client| client.send_echo(Fixtures.small) }
    end

    it "while one of two calls is not answered yet" do
      ObservedPeer.start do |peer|
        way, = close_after(peer) do |_socket, _transport, client|
          call(client)
          peer.answers = false
          client.send_echo(Fixtures.small)
        end
        expect(way).to eq(:usual)
      end
    end

    it "after an undeclared exception, which no hook sees as a reply" do
      expect_usual do |_socket, _transport, client|
        expect { client.fail("bug") }.to raise_error(Thrift::ApplicationException)
      end
    end

    it "after a call that was interrupted while it waited" do
      ObservedPeer.start(answers: false) do |peer|
        way, ended = close_after(peer) do |_socket, _transport, client|
          # The peer has the call when the timeout comes.
          expect { Timeout.timeout(0.2) { client.echo(Fixtures.small) } }.to raise_error(Timeout::Error)
        end
        expect([way, ended.how]).to eq([:usual, :eof])
      end
    end

    # Fails in the middle and leaves nothing behind.
    def fail_to_send(client, transport)
      broken = Object.new
      def broken.write(_protocol)
        throw(:out)
      end
      args = Class.new { define_singleton_method(:new) { |*| broken } }
      catch(:out) { client.send_message("echo", args) }
      transport.instance_variable_set(:@wbuf, +"")
    end

    it "after a message that failed half-way" do
      expect_usual do |_socket, transport, client|
        call(client)
        fail_to_send(client, transport)
      end
    end

    it "after a message that failed half-way, though calls were answered before and after" do
      expect_usual do |_socket, transport, client|
        call(client)
        fail_to_send(client, transport)
        call(client)
      end
    end

    it "when a reply was read that belongs to no call" do
      expect_usual do |_socket, _transport, client|
        stranger = Fixtures::Echo::Client.allocate
        %i[@iprot @oprot @seqid @pending_seqids].each do |name|
          next unless client.instance_variable_defined?(name)

          stranger.instance_variable_set(name, client.instance_variable_get(name))
        end
        stranger.__send__(:__stock_send_message, "echo", Fixtures::Echo::Echo_args, s: Fixtures.small)
        client.recv_echo
        call(client)
      end
    end

    it "when the program took the handle" do
      expect_usual do |socket, _transport, client|
        socket.handle
        call(client)
      end
    end

    it "when the program took the IO" do
      expect_usual do |socket, _transport, client|
        call(client)
        socket.to_io
      end
    end

    it "when the program wrote to the socket beside the calls" do
      expect_usual do |socket, _transport, client|
        call(client)
        socket.write([0].pack("N"))
      end
    end

    it "when bytes passed that we never saw" do
      expect_usual do |socket, _transport, client|
        call(client)
        io_of(socket).write([0].pack("N"))
      end
    end

    it "when bytes were read that we never saw" do
      expect_usual(peer: { extra: "more" }) do |socket, _transport, client|
        call(client)
        expect(io_of(socket).read(4)).to eq("more")
      end
    end

    it "when such bytes are still on their way" do
      expect_usual do |socket, _transport, client|
        call(client)
        io_of(socket).write([0].pack("N"))
        :hurry
      end
    end

    it "when bytes passed that we never saw, before the last call" do
      expect_usual do |socket, _transport, client|
        io_of(socket).write([0].pack("N"))
        call(client)
      end
    end

    it "when the handle was assigned" do
      ObservedPeer.start do |peer|
        socket = Thrift::Socket.new
        socket.handle = Socket.tcp("127.0.0.1", peer.port)
        transport = Thrift::FramedTransport.new(socket)
        call(Fixtures::Echo::Client.new(protocol_on(transport)))
        transport.close
        expect(outcome(peer).first).to eq(:usual)
      end
    end

    it "when the process has forked since, in the parent" do
      expect_usual do |_socket, _transport, client|
        call(client)
        Process.wait(fork { exit!(0) })
        call(client)
      end
    end

    it "when the process has forked since, in the child" do
      expect_usual do |socket, transport, client|
        call(client)
        child = fork do
          transport.close
          exit!(socket.open? ? 1 : 0)
        end
        expect(Process.wait2(child).last).to be_success
        call(client)
        expect(linger2(io_of(socket))).not_to eq(-1)
      end
    end

    it "when input is left in the frame" do
      expect_usual(peer: { trailer: "x" }) { |_socket, _transport, client| call(client) }
    end

    it "when input is left in the frame, and the socket is closed below the transport" do
      expect_usual(peer: { trailer: "x" }, close: :socket) { |_socket, _transport, client| call(client) }
    end

    it "when more input came with the reply" do
      # It was received together and given back to the IO, so that the kernel has nothing unread.
      expect_usual(peer: { extra: "more" }) do |socket, _transport, client|
        client.send_echo(Fixtures.small)
        IO.select([io_of(socket)])
        client.recv_echo
      end
    end

    it "when output is left in the transport" do
      expect_usual do |_socket, transport, client|
        call(client)
        transport.write("x")
      end
    end

    it "when a method of the socket was replaced in the object" do
      expect_usual do |socket, _transport, client|
        call(client)
        def socket.open? # rubocop:disable Lint/UselessMethodDefinition
          super
        end
        nil
      end
    end

    it "when it is a subclass of Thrift::Socket" do
      ObservedPeer.start do |peer|
        transport = Thrift::FramedTransport.new(Class.new(Thrift::Socket).new("127.0.0.1", peer.port, 10))
        transport.open
        call(Fixtures::Echo::Client.new(protocol_on(transport)))
        transport.close
        expect(outcome(peer).first).to eq(:usual)
      end
    end

    it "when a transport that we don't know is in between" do
      expect_usual(wrap: Class.new(Thrift::FramedTransport)) { |_socket, _transport, client| call(client) }
    end

    it "when the protocol is one that we don't know" do
      expect_usual do |_socket, transport, _client|
        call(Fixtures::Echo::Client.new(Class.new(Thrift::BinaryProtocol).new(transport)))
      end
    end

    it "when linger(false, 0) asks for it" do
      expect_usual do |socket, _transport, client|
        socket.linger(false, 0)
        call(client)
      end
    end

    it "when linger(true, 0) asks for a reset, but a condition doesn't hold" do
      expect_usual do |socket, _transport, client|
        socket.linger(true, 0)
        client.notify("x")
      end
    end

    context "with the default off" do
      let(:linger_default) { false }

      it "after a call and its reply" do
        expect_usual { |_socket, _transport, client| call(client) }
      end
    end

    def time_wait_of_two(peer)
      ends = [peer.ended, peer.ended]
      expect(ends.map(&:how)).to eq([:eof, :eof])
      ends.sum { |ended| TimeWait.count(peer.port, ended.port) }
    end

    # What only a process of its own can show: how each of two connections ends in TIME_WAIT.
    def time_wait_after_calls(env)
      ObservedPeer.start do |peer|
        result = Child.run(<<~CODE, env: env, args: [peer.port.to_s])
          require "thrift/native"
          require #{File.expand_path("../fixtures/load", __dir__).inspect}
          2.times do
            transport = Thrift::FramedTransport.new(Thrift::Socket.new("127.0.0.1", ARGV[0].to_i, 10))
            transport.open
            Fixtures::Echo::Client.new(Thrift::BinaryProtocol.new(transport)).echo(Fixtures.small)
            transport.close
          end
        CODE
        expect(result).to be_success, result.to_s
        time_wait_of_two(peer)
      end
    end

    it "with THRIFT_NATIVE_LINGER=0, and without it by reset" do
      expect(time_wait_after_calls("THRIFT_NATIVE_LINGER" => "0")).to eq(2)
      expect(time_wait_after_calls("THRIFT_NATIVE_LINGER" => nil)).to eq(0)
    end

    it "when Thrift::Client is stock" do
      expect(time_wait_after_calls("THRIFT_NATIVE_SKIP" => "client")).to eq(2)
    end

    it "when the program ends without closing, or leaves it to the garbage collector" do
      ObservedPeer.start do |peer|
        result = Child.run(<<~CODE, args: [peer.port.to_s])
          require "thrift/native"
          require #{File.expand_path("../fixtures/load", __dir__).inspect}
          def converse
            transport = Thrift::FramedTransport.new(Thrift::Socket.new("127.0.0.1", ARGV[0].to_i, 10))
            transport.open
            Fixtures::Echo::Client.new(Thrift::BinaryProtocol.new(transport)).echo(Fixtures.small)
            transport
          end
          Thread.new { converse; nil }.join
          GC.start
          $kept = converse
        CODE
        expect(result).to be_success, result.to_s
        expect(time_wait_of_two(peer)).to eq(2)
      end
    end

    it "over TLS, with close_notify" do
      # A server that answered the close_notify would be answered by a reset, and there would be no TIME_WAIT.
      ObservedPeer.start(tls: Certificates.server_context) do |peer|
        socket = Thrift::SSLSocket.new("localhost", peer.port, 10, Certificates.client_context)
        transport = Thrift::FramedTransport.new(socket)
        transport.open
        call(Fixtures::Echo::Client.new(protocol_on(transport)))
        transport.close
        way, ended = outcome(peer)
        expect([way, ended.how]).to eq([:usual, :eof])
      end
    end

    it "over UNIX sockets" do
      Servers.start(server: :threaded, transport: :framed, protocol: :binary, over: :unix) do |server|
        client, transport = server.client
        call(client)
        expect(transport.close).to be_nil
        expect(transport).not_to be_open
      end
    end

    it "and doesn't leave the option set if the IO won't close" do
      ObservedPeer.start do |peer|
        io = nil
        way, = close_after(peer) do |socket, transport, client|
          call(client)
          io = io_of(socket)
          stub_close(io) { transport.close }
          expect(io).not_to be_closed
          expect(linger2(io)).not_to eq(-1)
          expect(socket).not_to be_open
          io.close
        end
        expect(way).to eq(:usual)
      end
    end

    # Without a singleton, which would be noticed.
    def stub_close(target)
      BasicSocket.class_eval do
        define_method(:close) { equal?(target) ? raise(Errno::EIO) : super() }
      end
      yield
    ensure
      BasicSocket.class_eval { remove_method(:close) }
    end
  end

  describe "Thrift::Socket#close" do
    let(:socket) { Thrift::Socket.new }

    it "returns nil, open or not, and closes once" do
      ObservedPeer.start do |peer|
        socket = Thrift::Socket.new("127.0.0.1", peer.port)
        expect(socket.close).to be_nil
        socket.open
        expect([socket.close, socket.close]).to eq([nil, nil])
        expect(socket.handle).to be_nil
      end
    end

    it "leaves a closed handle alone, and swallows what closing raises" do
      closed = double("handle", closed?: true)
      failing = double("handle", closed?: false)
      expect(closed).not_to receive(:close)
      expect(failing).to receive(:close).and_raise(IOError)
      [closed, failing].each do |handle|
        socket.handle = handle
        expect(socket.close).to be_nil
        expect(socket.handle).to be_nil
      end
    end

    it "frees a thread that reads, and raises in none that don't" do
      ObservedPeer.start(answers: false) do |peer|
        socket = Thrift::Socket.new("127.0.0.1", peer.port)
        socket.open
        reader = Thread.new { socket.read(1) }
        reader.report_on_exception = false
        sleep(0.005) until reader.stop?
        socket.close
        expect { reader.value }.to raise_error(Thrift::TransportException)
      end
    end
  end

  describe "linger(true, seconds)" do
    # More than the peer takes, less than the kernel keeps for us.
    let(:payload) { "x" * 150_000 }
    let(:size) { payload.bytesize }

    def lingering(peer)
      socket = Thrift::Socket.new("127.0.0.1", peer.port, nil, send_buffer: 1_000_000)
      socket.linger(true, 60)
      socket.open
      socket.write([size].pack("N") + payload)
      socket
    end

    def closer_of(socket)
      thread = Thread.new { socket.close }
      thread.report_on_exception = false
      sleep(0.005) until thread.stop? # in close(2), without the VM lock, or we wouldn't be here
      thread
    end

    it "waits for what is still to be sent, while other threads run" do
      ObservedPeer.start(answers: false, reads: false, receive_buffer: 4096) do |peer|
        closing = closer_of(lingering(peer))
        expect(closing).to be_alive
        peer.read_on
        expect(closing.value).to be_nil
        expect(peer.ended.bytes).to eq(size + 4)
      end
    end

    it "can be killed in it, and loses nothing" do
      ObservedPeer.start(answers: false, reads: false, receive_buffer: 4096) do |peer|
        closing = closer_of(socket = lingering(peer))
        expect(closing.kill.join(20)).to eq(closing)
        expect(socket).not_to be_open
        peer.read_on
        expect(peer.ended.bytes).to eq(size + 4)
      end
    end

    it "lets a Timeout through" do
      ObservedPeer.start(answers: false, reads: false, receive_buffer: 4096) do |peer|
        socket = lingering(peer)
        expect { Timeout.timeout(0.1, ArgumentError) { socket.close } }.to raise_error(ArgumentError)
        expect(socket).not_to be_open
        peer.read_on
        expect(peer.ended.bytes).to eq(size + 4)
      end
    end

    it "lets other fibers run" do
      skip "no fiber schedulers" unless Fiber.respond_to?(:set_scheduler)
      ObservedPeer.start(answers: false, reads: false, receive_buffer: 4096) do |peer|
        order = []
        Scheduler.run do
          socket = lingering(peer)
          Fiber.schedule do
            socket.close
            order << :closed
          end
          Fiber.schedule do
            order << :other
            peer.read_on
          end
        end
        expect(order).to eq([:other, :closed])
        expect(peer.ended.bytes).to eq(size + 4)
      end
    end

    it "closes at once if nothing is to be sent" do
      expect_usual do |socket, _transport, client|
        socket.linger(true, 60)
        call(client)
      end
    end
  end

  # The hooks are in the way of every call: same arguments, same results.
  describe "the client's hooks" do
    # A client whose stock methods only say how they were called.
    let(:echoing) do
      Class.new do
        include Thrift::Client
        define_method(:__stock_send_message) { |name, args_class, args = {}| [:call, name, args_class, args] }
        define_method(:__stock_send_oneway_message) { |name, args_class, args = {}| [:oneway, name, args_class, args] }
        define_method(:__stock_receive_message) { |result_class| [:reply, result_class] }
      end
    end

    # Not all constructors take nonsense.
    def with_ivar(klass, name, value)
      klass.allocate.tap { |made| made.instance_variable_set(name, value) }
    end

    it "pass on arguments and results, and raise nothing where there is no connection" do
      transports = [
        nil, 1, "string", Object.new, Thrift::Socket.new, Thrift::FramedTransport.allocate,
        with_ivar(Thrift::BufferedTransport, :@transport, Thrift::Socket.new)
      ]
      looped = Thrift::FramedTransport.allocate
      looped.instance_variable_set(:@transport, looped)
      protocols = [nil, 1, :symbol, "string", Object.new, Thrift::MultiplexedProtocol.allocate]
      protocols += (transports << looped).map { |transport| with_ivar(Thrift::BinaryProtocol, :@trans, transport) }
      protocols.each do |protocol|
        client = echoing.new(protocol)
        expect(client.send_message("a", Array, x: 1)).to eq([:call, "a", Array, { x: 1 }])
        expect(client.send_message("a", Array)).to eq([:call, "a", Array, {}])
        expect(client.send_oneway_message("a", Array, { "x" => 1 })).to eq([:oneway, "a", Array, { "x" => 1 }])
        expect(client.receive_message(Array)).to eq([:reply, Array])
      end
    end

    it "survive the garbage collector and compaction" do
      expect_reset do |socket, transport, client|
        3.times { call(client) }
        compact
        # No bytes pass, and the counters stay in balance.
        told = echoing.new(protocol_on(transport))
        gc_stress do
          told.send_message("a", Array, x: 1)
          told.receive_message(Array)
        end
        gc_stress { transport.close }
        expect(socket).not_to be_open
      end
    end
  end
end
