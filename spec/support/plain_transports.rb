# frozen_string_literal: true

# Transports as programs write them: objects with a few methods, of no class of Thrift's.

# Only reads, writes, flushes, opens and closes. Gives its input in pieces of a given size, and keeps what it was told.
class PlainTransport
  # @return [Array<Array>] calls: [:write, bytes], [:flush], ...
  attr_reader :calls
  # @return [String] what is still to be read
  attr_accessor :input

  # @param input [String]
  # @param most [Integer] bytes a read
  # @param at_end what read returns when there is no more: nil, "" or an exception to raise
  def initialize(input = "", most: 1 << 30, at_end: nil)
    @input = input.b
    @most = most
    @at_end = at_end
    @calls = []
  end

  def open
    @calls << [:open]
  end

  def open?
    true
  end

  def close
    @calls << [:close]
  end

  def read(size)
    @calls << [:read, size]
    return @input.slice!(0, [size, @most].min) unless @input.empty?
    raise @at_end if @at_end.is_a?(Exception)

    @at_end
  end

  def write(bytes)
    @calls << [:write, bytes.dup]
    bytes.bytesize
  end

  def flush
    @calls << [:flush]
    nil
  end

  # @return [Array<String>] what each write got
  def written
    @calls.select { |name, _| name == :write }.map(&:last)
  end
end

# The same with the method that a framed transport reads by.
class PlainReadAllTransport < PlainTransport
  def read_all(size)
    bytes = "".b
    while bytes.bytesize < size
      piece = read(size - bytes.bytesize)
      raise EOFError, "the end" if piece.nil? || piece.empty?

      bytes << piece
    end
    bytes
  end
end
