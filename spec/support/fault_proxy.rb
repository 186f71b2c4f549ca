# frozen_string_literal: true

require "socket"

# A TCP proxy on 127.0.0.1 that treats connections badly.
#
#   FaultProxy.start(server.port, down: { one_byte: true }) { |proxy| connect_to(proxy.port) }
#
# Each direction (+up+ from client to server, +down+ back) has its own faults:
# delay:: seconds before each piece is passed on
# one_byte:: true, or seconds between two bytes: passes bytes one at a time
# cut:: after so many bytes both connections are closed, cleanly
# reset:: after so many bytes both connections are reset (SO_LINGER 0)
# stall:: after so many bytes nothing more is read from the sender, whose sends will stop
# half_open:: after so many bytes all else is swallowed, the end of the connection too: the receiver never learns
class FaultProxy
  FAULTS = [:delay, :one_byte, :cut, :reset, :stall, :half_open].freeze

  # One way through the proxy.
  class Way
    # @return [Integer] bytes passed on
    attr_reader :passed

    def initialize(faults)
      unknown = faults.keys - FAULTS
      raise ArgumentError, "unknown faults: #{unknown}" unless unknown.empty?

      @faults = faults
      @passed = 0
      @limit = faults.values_at(:cut, :reset, :stall, :half_open).compact.min
    end

    # Passes on until the sender ends or the fault comes.
    # @return [Symbol] what happened: :end, :cut, :reset, :stall or :half_open
    def run(from, to)
      loop do
        return fault if @limit && @passed >= @limit

        piece = from.readpartial(@limit ? [@limit - @passed, 65_536].min : 65_536)
        pass(piece, to)
      end
    rescue EOFError
      @faults[:half_open] ? :half_open : :end
    end

    # @return [Boolean] whether the receiver must not learn that the sender is gone
    def hides_end?
      @faults.key?(:half_open)
    end

    # Reads on, for nobody.
    def swallow(from)
      loop { from.readpartial(65_536) }
    end

    private

    def fault
      [:cut, :reset, :stall, :half_open].find { |name| @faults[name] }
    end

    def pass(piece, to)
      sleep(@faults[:delay]) if @faults[:delay]
      pieces = @faults[:one_byte] ? piece.each_char : [piece]
      pieces.each do |part|
        to.write(part)
        @passed += part.bytesize
        sleep(@faults[:one_byte]) if @faults[:one_byte].is_a?(Numeric)
      end
    end
  end

  class << self
    # Yields a running proxy; it is stopped after the block.
    def start(port, **faults)
      proxy = new(port, **faults)
      yield proxy
    ensure
      proxy&.stop
    end
  end

  # @return [Integer] where clients connect to
  attr_reader :port
  # @return [Integer] connections taken
  attr_reader :connections

  # @param target [Integer] port of the server
  # @param buffer [Integer, nil] size of the proxy's receive buffers in bytes; small ones make a stall felt early
  def initialize(target, up: {}, down: {}, buffer: nil)
    @target = target
    @faults = [up, down]
    @faults.each { |faults| Way.new(faults) }
    @buffer = buffer
    @connections = 0
    @ways = []
    @sockets = []
    @listener = TCPServer.new("127.0.0.1", 0)
    @listener.setsockopt(Socket::SOL_SOCKET, Socket::SO_RCVBUF, buffer) if buffer
    @port = @listener.addr[1]
    @threads = ThreadGroup.new
    accepting = Thread.new { accept }
    @threads.add(accepting)
  end

  # @return [Array(Integer, Integer)] bytes passed up and down, of all connections
  def passed
    @ways.transpose.map { |ways| ways.sum(&:passed) }
  end

  def stop
    until (threads = @threads.list).empty?
      threads.each(&:kill).each(&:join)
    end
    [@listener, *@sockets].each(&:close)
  end

  private

  def accept
    loop { serve(@listener.accept) }
  end

  def serve(client)
    @sockets << client
    server = connect
    @connections += 1
    ways = @faults.map { |faults| Way.new(faults) }
    @ways << ways
    [[client, server, ways[0]], [server, client, ways[1]]].each do |from, to, way|
      # Without a delay of the kernel's own, so that one byte is one segment.
      to.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
      @threads.add(Thread.new { carry(from, to, way) })
    end
  end

  # A receive buffer counts only if it is set before connecting.
  def connect
    server = Socket.new(:INET, :STREAM)
    @sockets << server
    server.setsockopt(Socket::SOL_SOCKET, Socket::SO_RCVBUF, @buffer) if @buffer
    server.connect(Addrinfo.tcp("127.0.0.1", @target))
    server
  end

  def carry(from, to, way)
    case way.run(from, to)
    when :end then to.close_write
    when :cut then [from, to].each { |io| io.shutdown(Socket::SHUT_RDWR) }
    when :reset then reset(from, to)
    when :stall then sleep
    when :half_open then way.swallow(from)
    end
  rescue IOError, SystemCallError
    # One end is gone; so that the other learns of it, unless that is what is played.
    to.close unless way.hides_end?
  end

  def reset(*sockets)
    sockets.each do |io|
      io.setsockopt(Socket::Option.linger(true, 0))
      io.close
    end
  end
end
