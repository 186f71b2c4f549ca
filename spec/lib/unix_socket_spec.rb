# frozen_string_literal: true

require "tmpdir"

RSpec.describe Thrift::Native::Impl::UNIXSocket do
  around { |example| Dir.mktmpdir { |dir| @path = File.join(dir, "socket") and example.run } }

  it "opens, with options, and knows its peer" do
    listener = UNIXServer.new(@path)
    socket = Thrift::UNIXSocket.new(@path, 5, send_buffer: 20_000, read_timeout: 0.05)
    expect(socket.open).to be_a(UNIXSocket)
    expect(socket.handle.getsockopt(:SOCKET, :SNDBUF).int).to eq(40_000)
    expect([socket.peer_address, socket.peer_port]).to eq([@path, nil])
    expect { socket.open }.to raise_error(Thrift::TransportException, "Socket already open")
    expect { socket.read(1) }.to raise_error(Thrift::TransportException, /Timed out/)
    expect(socket).not_to be_open
  ensure
    listener.close
  end

  it "raises NOT_OPEN where there is no socket" do
    expect { Thrift::UNIXSocket.new(@path).open }.to raise_error(Thrift::TransportException) { |error|
      expect(error).to have_attributes(type: Thrift::TransportException::NOT_OPEN, cause: be_a(Errno::ENOENT),
                                       message: "Could not open UNIX socket at #{@path}")
    }
  end

  it "has no options of TCP" do
    expect { Thrift::UNIXSocket.new(@path, nodelay: true) }.to raise_error(ArgumentError, "unknown keyword: :nodelay")
  end
end
