# frozen_string_literal: true

require "socket"
require_relative "../support/servers"

RSpec.describe "TLS handshakes of the servers" do
  # Clients that never shake hands, while the block runs.
  def with_silent(server, count)
    silent = Array.new(count) { TCPSocket.new("127.0.0.1", server.port) }
    silent.last.write("\x16\x03\x01\x02\x00") # a ClientHello's beginning
    yield silent
  ensure
    silent&.each(&:close)
  end

  def echo(server)
    server.client { |client| expect(client.echo(Fixtures.small)).to eq(Fixtures.small) }
  end

  rude = [
    ->(io) { io.write("GET / HTTP/1.0\r\n\r\n") },
    lambda(&:close_write),
    ->(io) { io.write("\x16\x03\x01") && io.setsockopt(Socket::Option.linger(true, 0)) && io.close }
  ]

  [:simple, :threaded, :pool, :nonblocking].each do |kind|
    it "don't end a #{kind} server when they fail" do
      Servers.start(server: kind, over: :tls, client_timeout: 5) do |server|
        rude.each do |rudeness|
          client = TCPSocket.new("127.0.0.1", server.port)
          rudeness.call(client)
          client.read unless client.closed?
          client.close
        rescue Errno::ECONNRESET
          client.close
        end
        echo(server)
        expect(server.failure).to be_nil
      end
    end

    it "are limited by client_timeout in a #{kind} server" do
      Servers.start(server: kind, over: :tls, client_timeout: 0.1) do |server|
        client = TCPSocket.new("127.0.0.1", server.port)
        expect(client.read).to eq("")
        client.close
        echo(server)
      end
    end
  end

  [:threaded, :nonblocking].each do |kind|
    it "of silent clients don't stop others in a #{kind} server" do
      Servers.start(server: kind, over: :tls, client_timeout: 60) do |server|
        with_silent(server, 40) { 3.times { echo(server) } }
      end
    end
  end

  it "of a silent client stop one worker of a pool, not the others" do
    Servers.start(server: :pool, workers: 3, over: :tls, client_timeout: 60) do |server|
      with_silent(server, 2) { 3.times { echo(server) } }
    end
  end

  it "give a nonblocking server what clients send right behind" do
    Servers.start(server: :nonblocking, over: :tls) do |server|
      clients = Array.new(8) { server.client }
      expect(clients.map { |client, _trans| client.echo(Fixtures.small) }).to all(eq(Fixtures.small))
      clients.map(&:last).each(&:close)
    end
  end

  it "end with a nonblocking server, which closes them" do
    GC.start
    before = Dir.children("/proc/self/fd").size
    Servers.start(server: :nonblocking, over: :tls, client_timeout: 60) do |server|
      with_silent(server, 3) do |silent|
        echo(server)
        server.server.shutdown(0, true)
        silent.each { |client| expect(client.read).to eq("") }
      end
    end
    GC.start
    expect(Dir.children("/proc/self/fd").size).to be <= before
  end

  it "end with a threaded server's listener" do
    Servers.start(server: :threaded, over: :tls) do |server|
      echo(server)
      server.listener.close
      sleep(0.001) while server.failure.nil?
      expect(server.failure).to be_an(IOError)
    end
  end

  it "are as stock where the program has its own accept" do
    listener = Class.new(Thrift::SSLServerSocket) do
      def accept
        super.tap { |socket| socket.timeout = 7 }
      end
    end
    listener = listener.new("127.0.0.1", 0, Certificates.server_context)
    Servers.start(server: :threaded, over: :tls, listener: listener) { |server| echo(server) }
  end
end
