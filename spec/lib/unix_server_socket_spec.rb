# frozen_string_literal: true

require "tmpdir"

RSpec.describe Thrift::Native::Impl::UNIXServerSocket do
  around { |example| Dir.mktmpdir { |dir| @path = File.join(dir, "socket") and example.run } }

  it "accepts sockets with its options, and removes its file" do
    server = Thrift::UNIXServerSocket.new(@path, client_timeout: 3, send_buffer: 20_000, read_timeout: 2, backlog: 7)
    server.listen
    client = UNIXSocket.new(@path)
    accepted = server.accept
    expect(accepted).to be_an_instance_of(Thrift::UNIXSocket)
    expect([accepted.timeout, accepted.read_timeout]).to eq([3, 2])
    expect(accepted.handle.getsockopt(:SOCKET, :SNDBUF).int).to eq(40_000)
    client.write("x")
    expect(accepted.read(1)).to eq("x")
    server.close
    expect(File).not_to exist(@path)
  ensure
    [client, accepted].compact.each(&:close)
  end

  it "leaves an adopted listener's file to its owner" do
    server = Thrift::UNIXServerSocket.from_fd(UNIXServer.new(@path))
    server.listen
    client = UNIXSocket.new(@path)
    expect(server.accept.peer_port).to be_nil
    expect(server.to_s).to eq("domain(#{@path})")
    server.close
    expect(server).to be_closed
    expect(File).to exist(@path)
    client.close
  end

  it "accepts from an assigned handle" do
    server = Thrift::UNIXServerSocket.new(@path)
    server.handle = UNIXServer.new(@path)
    client = UNIXSocket.new(@path)
    expect(server.accept).to be_open
    expect(server.handle).to be_nonblock
    server.close
    client.close
  end

  it "wants a path or a listening UNIX socket" do
    expect { Thrift::UNIXServerSocket.new }.to raise_error(ArgumentError, /wrong number of arguments/)
    tcp = TCPServer.new("127.0.0.1", 0)
    expect { Thrift::UNIXServerSocket.new(handle: tcp) }.to raise_error(ArgumentError, /\Ahandle\b/)
    expect { Thrift::UNIXServerSocket.new("p", reuse_port: true) }.to raise_error(ArgumentError, /unknown keyword/)
    tcp.close
  end

  it "returns nil where nobody listens" do
    expect(Thrift::UNIXServerSocket.new(@path).accept).to be_nil
  end
end
