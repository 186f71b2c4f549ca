# frozen_string_literal: true

require_relative "servers"

RSpec.describe Servers do
  it "serves in threads of this process, and leaves none behind" do
    before = Thread.list
    threads = described_class.start(server: :pool, workers: 3) do |server|
      expect(server.client { |client| client.echo(Fixtures.small) }).to eq(Fixtures.small)
      server.threads
    end

    expect(threads.size).to eq(4)
    expect(threads).to all(satisfy { |thread| !thread.alive? })
    expect(Thread.list - before).to eq([])
  end

  it "frees the port" do
    port = described_class.start(&:port)

    expect { TCPSocket.new("127.0.0.1", port) }.to raise_error(Errno::ECONNREFUSED)
  end

  it "frees the port though a client is connected and another server's thread waits for it" do
    kept = described_class.start(server: :nonblocking, transport: :framed) { |server| server.client[1] }

    expect(kept).to be_open
    kept.close
  end

  it "hands the notes of its handler over" do
    described_class.start(over: :unix) do |server|
      server.client { |client| client.notify("hello") }
      expect(server.handler.notified.pop).to eq("hello")
    end
  end

  it "tells why a server did not start" do
    described_class.start do |server|
      taken = Thrift::ServerSocket.new("127.0.0.1", server.port)
      expect { described_class.start(listener: taken) { nil } }.to raise_error(/EADDRINUSE/)
    end
  end

  it "serves in a child process, with ours or stock, under its own certificate" do
    [true, false].each do |native|
      setup = "Fixtures::Handler.define_method(:fail) do |_|
        Thrift::FramedTransport.private_method_defined?(:__stock_read) ? 1 : 0
      end"
      described_class.spawn(native: native, over: :tls, setup: setup) do |server|
        expect(server.client { |client| client.fail("") }).to eq(native ? 1 : 0)
        expect(File.read("/proc/#{server.pid}/environ").include?("THRIFT_NATIVE=0")).to eq(!native)
      end
    end
  end
end
