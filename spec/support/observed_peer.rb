# frozen_string_literal: true

require "openssl"
require "socket"
require_relative "../fixtures/load"

# A server for one connection at a time that answers framed binary calls of the Echo service and takes down how each
# connection ended. It has closed its end when #ended returns, so that the kernel's state of the client's end is final.
class ObservedPeer
  # @!attribute how [Symbol, String] :eof (with TLS, after a close_notify), or the name of the error that the last read
  #   raised
  # @!attribute bytes [Integer] received, frame headers included
  # @!attribute port [Integer] of the client
  End = Struct.new(:how, :bytes, :port)

  class << self
    # @param host [String] to listen on
    # @param answers [Boolean] or only listens
    # @param extra [String] appended to each reply, after the frame
    # @param trailer [String] appended to each reply, within the frame
    # @param reads [Boolean] or leaves it all in the kernel until #read_on
    # @param receive_buffer [Integer] bytes
    # @param processor [Thrift::Processor]
    # @param tls [OpenSSL::SSL::SSLContext]
    def start(**how)
      peer = new(**how)
      yield peer
    ensure
      peer&.stop
    end
  end

  # @return [Integer]
  attr_reader :port
  # @return [Boolean] whether the next call is answered
  attr_accessor :answers

  def initialize(host: "127.0.0.1", answers: true, extra: "", trailer: "", reads: true, receive_buffer: nil,
                 tls: nil, processor: Fixtures::Echo::Processor.new(Fixtures::Handler.new))
    @answers = answers
    @extra = extra
    @trailer = trailer
    @gate = Thread::Queue.new
    @gate << :open if reads
    @ends = Thread::Queue.new
    @processor = processor
    @tls = tls
    @listener = TCPServer.new(host, 0)
    @listener.setsockopt(Socket::SOL_SOCKET, Socket::SO_RCVBUF, receive_buffer) if receive_buffer
    @port = @listener.addr[1]
    @thread = Thread.new { loop { serve(@listener.accept) } }
    @thread.report_on_exception = false
  end

  # Reads what it was told to leave.
  def read_on
    @gate << :open
  end

  # @return [End] of the oldest connection whose end nobody asked for
  def ended
    @ends.pop
  end

  def stop
    @thread.kill.join
    @listener.close
  end

  private

  def serve(socket)
    port = socket.remote_address.ip_port
    @bytes = 0
    @gate << @gate.pop
    how = converse(@tls ? OpenSSL::SSL::SSLSocket.new(socket, @tls).tap(&:accept) : socket)
    socket.read if how == :eof # after a close_notify the FIN may be still to come
  rescue SystemCallError, OpenSSL::SSL::SSLError => e
    how = e.class.name
  ensure
    socket.close
    @ends << End.new(how, @bytes, port) if how
  end

  def converse(socket)
    while (header = read(socket, 4))
      message = read(socket, header.unpack1("N")) or break
      socket.write(reply_to(message)) if @answers && !message.empty?
    end
    :eof
  end

  def read(socket, size)
    data = +""
    while data.bytesize < size
      more = socket.readpartial(size - data.bytesize)
      @bytes += more.bytesize
      data << more
    end
    data
  rescue EOFError
    nil
  end

  def reply_to(message)
    output = Thrift::MemoryBufferTransport.new
    @processor.process(
      Thrift::BinaryProtocol.new(Thrift::MemoryBufferTransport.new(message)), Thrift::BinaryProtocol.new(output)
    )
    reply = output.read(output.available) + @trailer
    return "" if output.available.zero? && reply.empty?

    [reply.bytesize].pack("N") + reply + @extra
  end
end

# What the kernel still knows of connections that are closed, from /proc/net (proc(5)).
module TimeWait
  module_function

  # Ports are used again, while older connections of theirs are still in TIME_WAIT: one port is not enough to tell.
  # @param server [Integer] the port that was connected to
  # @param client [Integer, nil] the port that was connected from; nil: any
  # @return [Integer] how many such connections are in TIME_WAIT at the client's end
  def count(server, client = nil)
    %w[tcp tcp6].sum do |file|
      File.foreach("/proc/net/#{file}").count do |line|
        _number, local, remote, state = line.split
        state == "06" && port(remote) == server && (client.nil? || port(local) == client)
      end
    end
  end

  def port(address)
    address[/\h+\z/].hex
  end
end
