# frozen_string_literal: true

require "socket"
require_relative "../support/child"
require_relative "../support/servers"

RSpec.describe Thrift::Native::Impl::ServerSocket do
  def listening(*arguments, **options)
    arguments = ["127.0.0.1", 0] if arguments.empty? && !options.key?(:handle)
    server = Thrift::ServerSocket.new(*arguments, **options)
    server.listen
    yield server
  ensure
    server&.close
  end

  # [client's IO, accepted Thrift::Socket]
  def connect(server)
    client = TCPSocket.new("127.0.0.1", server.port)
    accepted = server.accept
    yield accepted, accepted.handle, client
  ensure
    accepted&.close
    client&.close
  end

  it "listens on port 0 and tells which one that is" do
    listening do |server|
      expect(server.port).to eq(server.handle.local_address.ip_port).and be > 0
      expect(server.to_s).to eq("socket(127.0.0.1:0)")
    end
    expect(Thrift::ServerSocket.new("127.0.0.1", 4711).port).to eq(4711)
  end

  it "accepts sockets with nodelay on, and linger off" do
    listening do |server|
      2.times do
        connect(server) do |accepted, io|
          expect(accepted).to be_an_instance_of(Thrift::Socket)
          expect(io.getsockopt(:TCP, :NODELAY).bool).to be(true)
          expect(io.getsockopt(:SOCKET, :LINGER).linger.first).to be(false)
        end
      end
    end
  end

  it "accepts sockets without nodelay, if so told, before and after listening" do
    listening(nodelay: false) do |server|
      connect(server) { |_accepted, io| expect(io.getsockopt(:TCP, :NODELAY).bool).to be(false) }
      server.nodelay = true
      connect(server) { |_accepted, io| expect(io.getsockopt(:TCP, :NODELAY).bool).to be(true) }
      server.nodelay = false
      connect(server) { |_accepted, io| expect(io.getsockopt(:TCP, :NODELAY).bool).to be(false) }
    end
  end

  it "gives accepted sockets its options" do
    options = { keepalive: { idle: 21 }, user_timeout: 2, send_buffer: 20_000, receive_buffer: 30_000,
                linger: [true, 4], read_timeout: 0.05, write_timeout: 7, client_timeout: 9 }
    listening(**options) do |server|
      options.each { |name, value| expect(server.public_send(name)).to eq(value) unless name == :linger }
      connect(server) do |accepted, io|
        expect([io.getsockopt(:SOCKET, :KEEPALIVE).bool, io.getsockopt(:TCP, :KEEPIDLE).int,
                io.getsockopt(:TCP, :USER_TIMEOUT).int, io.getsockopt(:SOCKET, :SNDBUF).int,
                io.getsockopt(:SOCKET, :RCVBUF).int]).to eq([true, 21, 2000, 40_000, 60_000])
        expect([accepted.timeout, accepted.read_timeout, accepted.write_timeout]).to eq([9, 0.05, 7])
        expect([:@linger_on, :@linger_seconds].map { |name| accepted.instance_variable_get(name) }).to eq([true, 4])
        expect { accepted.read(1) }.to raise_error(Thrift::TransportException, /Timed out/)
      end
    end
  end

  it "gives the sockets that are accepted from then on what is set later" do
    listening do |server|
      connect(server) { |_accepted, io| expect(io.getsockopt(:SOCKET, :KEEPALIVE).bool).to be(false) }
      server.keepalive = true
      server.client_timeout = 3
      connect(server) do |accepted, io|
        expect([io.getsockopt(:SOCKET, :KEEPALIVE).bool, accepted.timeout]).to eq([true, 3])
      end
    end
  end

  it "has the client_timeout of the installed thrift unless told" do
    expected = SpecHelpers.thrift?("0.24") ? 5 : nil
    listening do |server|
      expect(server.client_timeout).to eq(expected)
      connect(server) { |accepted, _io| expect(accepted.timeout).to eq(expected) }
    end
    listening(client_timeout: 2.5) { |server| connect(server) { |accepted, _io| expect(accepted.timeout).to eq(2.5) } }
    listening(client_timeout: nil) { |server| connect(server) { |accepted, _io| expect(accepted.timeout).to be_nil } }
  end

  it "knows the peers of accepted sockets" do
    listening do |server|
      connect(server) do |accepted, _io, client|
        expect([accepted.peer_address, accepted.peer_port]).to eq(["127.0.0.1", client.local_address.ip_port])
      end
    end
  end

  it "lets several listen on one port with reuse_port" do
    listening(reuse_port: true) do |one|
      listening("127.0.0.1", one.port, reuse_port: true) { |two| expect(two.port).to eq(one.port) }
      expect { listening("127.0.0.1", one.port) { nil } }.to raise_error(Errno::EADDRINUSE)
    end
  end

  it "raises Errno::EADDRINUSE for a port in use, and stays usable" do
    listening do |one|
      server = Thrift::ServerSocket.new("127.0.0.1", one.port)
      expect { server.listen }.to raise_error(Errno::EADDRINUSE)
      expect(server).to be_closed
      one.close
      server.listen
      expect(server).not_to be_closed
      server.close
    end
  end

  it "raises SocketError for a host that nothing resolves" do
    expect { Thrift::ServerSocket.new("no such host", 0).listen }.to raise_error(SocketError)
    expect { Thrift::ServerSocket.new("no such host", 0, reuse_port: true).listen }.to raise_error(SocketError)
  end

  it "limits the backlog" do
    # State 0A is LISTEN; ss(8) calls what is in the second column Send-Q.
    backlog = lambda do |server|
      `ss -Hltn 'sport = :#{server.port}'`.split[2].to_i
    end
    skip "no ss" unless system("ss -V", out: File::NULL, err: File::NULL)
    listening(backlog: 3) do |server|
      expect(backlog[server]).to eq(3)
      server.backlog = 5
      expect([server.backlog, backlog[server]]).to eq([5, 5])
    end
    listening(backlog: 4, reuse_port: true) { |server| expect(backlog[server]).to eq(4) }
  end

  it "wants a port or a listening socket" do
    expect { Thrift::ServerSocket.new }.to raise_error(ArgumentError, /wrong number of arguments/)
  end

  it "returns nil and raises IOError where nobody listens, as before" do
    server = Thrift::ServerSocket.new("127.0.0.1", 0)
    expect(server.accept).to be_nil
    expect { server.to_io }.to raise_error(IOError, "closed stream")
    expect(server).to be_closed
  end

  it "works as it was when #listen was called before ours was loaded" do
    server = Thrift::ServerSocket.allocate
    server.send(:__stock_initialize, "127.0.0.1", 0)
    server.send(:__stock_listen)
    2.times { connect(server) { |_accepted, io| expect(io.getsockopt(:TCP, :NODELAY).bool).to be(true) } }
    server.close
  end

  it "accepts from a subclass of TCPServer by the stock way" do
    server = Thrift::ServerSocket.new("127.0.0.1", 0, client_timeout: 5, read_timeout: 3)
    server.instance_variable_set(:@handle, Class.new(TCPServer).new("127.0.0.1", 0))
    connect(server) do |accepted, io|
      expect(io.getsockopt(:TCP, :NODELAY).bool).to be(true)
      expect(accepted.read_timeout).to eq(3)
    end
    server.close
  end

  describe "adopting a listening socket" do
    def socket
      Socket.new(:INET, :STREAM).tap do |made|
        made.bind(Addrinfo.tcp("127.0.0.1", 0))
        made.listen(5)
      end
    end

    it "takes a TCPServer, a Socket or a descriptor" do
      made = socket
      fd = made.fileno
      made.autoclose = false
      [TCPServer.new("127.0.0.1", 0), socket, fd].each do |source|
        listening(handle: source, keepalive: true) do |server|
          2.times do
            connect(server) do |_accepted, io|
              expect([io.getsockopt(:TCP, :NODELAY).bool, io.getsockopt(:SOCKET, :KEEPALIVE).bool]).to eq([true, true])
            end
          end
        end
      end
    end

    it "owns it: one close, and no listening again" do
      server = Thrift::ServerSocket.from_fd(socket, client_timeout: 4)
      handle = server.listen
      expect(server.client_timeout).to eq(4)
      server.close
      expect(handle).to be_closed
      expect { server.listen }.to raise_error(IOError)
    end

    it "leaves its O_NONBLOCK as it is" do
      [true, false].each do |mode|
        source = TCPServer.new("127.0.0.1", 0)
        source.nonblock = mode
        listening(handle: source) do |server|
          connect(server) { |_accepted, _io| expect(source.nonblock?).to eq(mode) }
        end
      end
    end

    it "raises an ArgumentError that names handle for anything else" do
      reader, writer = IO.pipe
      unbound = Socket.new(:INET, :STREAM)
      unix = UNIXServer.new(File.join(Dir.mktmpdir, "s"))
      [reader, reader.fileno, unbound, unbound.fileno, unix, 9999, "3", -1].each do |source|
        expect { Thrift::ServerSocket.new(handle: source) }.to raise_error(ArgumentError, /\Ahandle\b/), source.inspect
      end
      [reader, unbound, unix].each { |io| expect(io).not_to be_closed }
      GC.start
      expect(reader.fileno && unbound.local_address).to be_truthy
    ensure
      [reader, writer, unbound, unix].each(&:close)
    end

    it "takes what systemd passes" do
      code = <<~RUBY
        #{Servers.preamble(true)}
        require "tmpdir"
        web, admin = Array.new(2) { TCPServer.new("127.0.0.1", 0) }
        unix = UNIXServer.new(Dir.mktmpdir + "/s")
        ruby = [RbConfig.ruby, *$LOAD_PATH.flat_map { |dir| ["-I", dir] }, "-e"]
        env = { "LISTEN_FDS" => "3", "LISTEN_FDNAMES" => "web:admin:unix" }
        inner = <<~INNER
          #{Servers.preamble(true)}
          ENV["LISTEN_PID"] ||= Process.pid.to_s
          p Thrift::ServerSocket.listen_fds(unset_environment: false, name: "admin").map { |s| s.listen; s.port }
          all = Thrift::ServerSocket.listen_fds(client_timeout: 3)
          all.each(&:listen)
          p all.map(&:class), all.map(&:client_timeout), all.first(2).map(&:port)
          p all.map { |s| s.handle.close_on_exec? }
          p Thrift::ServerSocket.listen_fds, ENV.keys.grep(/LISTEN/)
        INNER
        fds = { 3 => web, 4 => admin, 5 => unix, close_others: true }
        system(env, *ruby, inner, fds)
        p [web, admin].map { |s| s.local_address.ip_port }
        stranger = "\#{inner.lines.first(2).join}; p Thrift::ServerSocket.listen_fds"
        system(env.merge("LISTEN_PID" => "1"), *ruby, stranger, fds)
      RUBY
      result = Child.run(code)
      admin, *all, cloexec, rest, variables, ports, stranger = result.out.lines.map(&:chomp)
      expect(result.err).to eq("")
      expect(admin).to eq("[#{ports[/\d+(?=\])/]}]")
      expect(all).to eq(["[Thrift::ServerSocket, Thrift::ServerSocket, Thrift::UNIXServerSocket]", "[3, 3, 3]", ports])
      expect([cloexec, rest, variables]).to eq(["[true, true, true]", "[]", "[]"])
      # Meant for another process.
      expect(stranger).to eq("[]")
    end
  end
end
