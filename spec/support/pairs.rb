# frozen_string_literal: true

require "socket"

# A Thrift::Socket and the plain Ruby socket at its other end.
module Pairs
  # Listens for as long as the block runs, so that the socket can be opened more than once.
  #
  # @param timeout [Numeric, nil] seconds
  # @yieldparam socket [Thrift::Socket] open
  # @yieldparam peer [TCPSocket] the other end of that connection
  # @yieldparam server [TCPServer] for more connections
  def tcp_pair(timeout: 5)
    server = TCPServer.new("127.0.0.1", 0)
    socket = Thrift::Socket.new("127.0.0.1", server.addr[1], timeout)
    socket.open
    peer = server.accept
    yield socket, peer, server
  ensure
    [peer, server].compact.each { |io| io.close unless io.closed? }
    socket&.close
  end

  # @return [String] with its length in front
  def frame(bytes)
    [bytes.bytesize].pack("N") + bytes.b
  end

  # @param timeout [Numeric, nil] seconds
  # @return [Array(Thrift::Socket, UNIXSocket)]
  def unix_pair(timeout: 5)
    ours, peer = UNIXSocket.pair
    socket = Thrift::Socket.new("pair", 0, timeout)
    socket.handle = ours
    [socket, peer]
  end

  # Runs the block in a thread and waits until that thread sleeps in it.
  def sleeping_thread(&block)
    thread = Thread.new(&block)
    thread.report_on_exception = false
    wait_until { thread.stop? }
    thread
  end

  def wait_until
    deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 10
    until yield
      raise "it doesn't come about" if Process.clock_gettime(Process::CLOCK_MONOTONIC) > deadline

      sleep(0.002)
    end
  end

  # @return [Thrift::TransportException] what the block raised
  def transport_error
    yield
    raise "nothing was raised"
  rescue Thrift::TransportException => e
    e
  end
end
