# frozen_string_literal: true

require_relative "../support/plain_transports"

# The unread part of a buffer, through the three transports that have one.
RSpec.describe "ext/thrift_native/window.h" do
  def transports
    framed = Thrift::FramedTransport.new(PlainReadAllTransport.new)
    buffered = Thrift::BufferedTransport.new(PlainTransport.new)
    memory = Thrift::MemoryBufferTransport.new
    { framed => :@rbuf, buffered => :@rbuf, memory => :@buf }
  end

  def set(transport, buffer, bytes, index)
    transport.instance_variable_set(buffer, bytes)
    transport.instance_variable_set(:@index, index)
  end

  it "starts at @index" do
    transports.each do |transport, buffer|
      set(transport, buffer, "abcdef".b, 4)
      expect(transport.read_all(2)).to eq("ef")
      expect(transport.instance_variable_get(:@index)).to eq(6)
    end
  end

  it "is empty when @index lies at or beyond the end" do
    transports.each do |transport, buffer|
      [3, 4, 1000].each do |index|
        set(transport, buffer, "abc".b, index)
        expect { transport.read_byte }.to raise_error(StandardError, /end|[Mm]ore|remain/)
      end
    end
  end

  it "is the stock methods' affair when a program put something else there" do
    transports.first(2).each do |transport, buffer| # the stock memory transport's C code crashes on such
      [[nil, 0], ["abc".b, nil], [12, 0], ["abc".b, "x"]].each do |bytes, index|
        set(transport, buffer, bytes, index)
        expect { transport.read_byte }.to raise_error(StandardError)
      end
    end
  end

  it "never changes the program's own string" do
    transports.each do |transport, buffer|
      mine = ("abc" * 1000).b.freeze
      set(transport, buffer, mine, 0)
      taken = [transport.read_all(5), transport.read_all(2000), transport.read_all(mine.bytesize - 2005)]
      taken.each { |bytes| bytes.replace("") }
      expect(mine).to eq("abc" * 1000)
    end
  end

  it "gives strings that may be changed, of few bytes and of many" do
    transports.each do |transport, buffer|
      [1, 23, 24, 1023, 1024, 5000].each do |size|
        set(transport, buffer, ("x" * 6000).b, 0)
        taken = transport.read_all(size)
        expect([taken.encoding, taken.frozen?, taken.bytesize]).to eq([Encoding::BINARY, false, size])
        taken << "y"
        taken.setbyte(0, 0)
        expect(transport.read_byte).to eq(120)
      end
    end
  end
end
