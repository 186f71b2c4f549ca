# frozen_string_literal: true

# Random but repeatable use of a transport, written down line by line, so that the stock gem's answers and ours can be
# compared: values, encodings, frozen or not, what an inner transport is asked for, and the instance variables that
# programs look at. Only valid use: what is not valid is answered as thrift 0.25 does, whichever is installed.

require "socket"
require_relative "plain_transports"

class TransportScript
  KINDS = [:framed, :framed_socket, :buffered, :buffered_socket, :memory, :socket].freeze

  # @param kind [Symbol] one of KINDS
  # @param seeds [Enumerable<Integer>]
  # @return [Array<String>]
  def self.run(kind, seeds)
    seeds.flat_map { |seed| ["seed #{seed}", *new(kind, seed).run] }
  end

  # The same in a process of its own, without ours.
  def self.stock(kind, seeds)
    code = <<~CODE
      require "thrift"
      require #{__FILE__.inspect}
      puts TransportScript.run(:#{kind}, #{seeds.inspect})
    CODE
    result = Child.run(code, env: { "THRIFT_NATIVE" => "0" }, timeout: 60)
    raise result.to_s unless result.success?

    result.out.lines(chomp: true)
  end

  def initialize(kind, seed)
    @random = Random.new(seed)
    @lines = []
    send("set_up_#{kind}")
  end

  def run
    60.times { step }
    @peer&.close
    @lines
  end

  private

  def set_up_framed
    frames = Array.new(40) { bytes(1, 300) }
    sent = frames.map { |frame| [frame.bytesize].pack("N") + frame }.join
    @inner = PlainReadAllTransport.new(sent, most: number(1, 90))
    @transport = Thrift::FramedTransport.new(@inner)
    @operations = [:read, :read_all, :read_byte, :read_into_buffer, :write, :write_some, :flush, :state]
    @state = [:@index, :@rbuf, :@wbuf]
  end

  def set_up_framed_socket
    set_up_socket
    @transport = Thrift::FramedTransport.new(@transport)
    @framed = true
    @operations = [:read, :read_all, :read_byte, :read_into_buffer, :write, :flush, :state]
    @state = [:@index, :@rbuf, :@wbuf]
  end

  def set_up_buffered
    @inner = PlainTransport.new(bytes(30_000, 30_000), most: number(1, 5000))
    @transport = Thrift::BufferedTransport.new(@inner)
    @operations = [:read, :read_all, :read_byte, :read_into_buffer, :write, :flush, :state]
    @state = [:@index, :@rbuf, :@wbuf]
  end

  # How far it reads ahead is its own business.
  def set_up_buffered_socket
    set_up_socket
    @transport = Thrift::BufferedTransport.new(@transport)
    @operations = [:read_all, :read_byte, :read_into_buffer, :write, :flush, :state]
    @state = [:@wbuf]
  end

  def set_up_memory
    @transport = Thrift::MemoryBufferTransport.new
    @transport.write(bytes(20_000, 20_000))
    @operations = [:read, :read_all, :read_byte_low, :read_into_buffer, :write, :state]
    @state = [:@index, :@buf]
  end

  def set_up_socket
    ours, @peer = UNIXSocket.pair
    @transport = Thrift::Socket.new("somewhere", 1234, [nil, 5, 0.5].sample(random: @random))
    @transport.handle = ours
    @operations = [:read, :read_all, :write]
  end

  def step
    operation = @operations.sample(random: @random)
    feed unless operation.to_s.start_with?("write") || @peer.nil?
    @lines << "#{operation} #{describe(send(operation))}"
    @lines << "  inner #{@inner.calls.slice!(0..).map { |call| describe(call) }.join(" ")}" if @inner
  end

  # Enough for whatever is read next.
  def feed
    piece = bytes(400, 600)
    piece = [piece.bytesize].pack("N") + piece if @framed
    @peer.write(piece)
  end

  def read
    @transport.read(number(1, 200))
  end

  def read_all
    @transport.read_all(number(0, 200))
  end

  def read_byte
    @transport.read_byte
  end

  # Before 0.23 the stock memory transport's C code has signed bytes.
  def read_byte_low
    @transport.read_byte & 0xff
  end

  def read_into_buffer
    buffer = +"-" * number(20, 40)
    buffer.force_encoding([Encoding::BINARY, Encoding::UTF_8].sample(random: @random))
    [@transport.read_into_buffer(buffer, number(0, 20)), buffer]
  end

  def write
    string = text
    result = @transport.write(string)
    drain
    [result, string]
  end

  def write_some
    @transport.write(text, [nil, number(0, 20)].sample(random: @random))
  end

  def flush
    result = @transport.flush
    drain
    result
  end

  def drain
    return unless @peer

    @lines << "  peer #{describe(@peer.read_nonblock(1 << 20, exception: false))}"
  end

  def state
    @state.map { |name| @transport.instance_variable_get(name) }
  end

  def text
    string = ["plain", "caf\u00e9", "\xff\xfe".b, "", "x" * number(1, 5000), "\u00e9".encode("ISO-8859-1")]
    copy = string.sample(random: @random).dup
    number(0, 2) == 0 ? copy.freeze : copy
  end

  def number(from, to)
    @random.rand(from..to)
  end

  def bytes(from, to)
    @random.bytes(number(from, to))
  end

  def describe(value)
    case value
    when Array then "[#{value.map { |element| describe(element) }.join(", ")}]"
    when String
      shown = value.bytesize > 60 ? "#{value.bytesize} bytes, #{value.b.sum}" : value.b.inspect
      "#{value.class} #{value.encoding}#{" frozen" if value.frozen?} #{shown}"
    else value.inspect
    end
  end
end
