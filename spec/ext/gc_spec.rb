# frozen_string_literal: true

require_relative "../support/pairs"
require_relative "../support/plain_transports"
require_relative "../support/servers"

# The collector may run, and move what it can, at each allocation.
RSpec.describe "memory" do
  include Pairs

  def auto_compact
    before = GC.auto_compact if GC.respond_to?(:auto_compact)
    GC.auto_compact = true if GC.respond_to?(:auto_compact=)
    yield
  rescue NotImplementedError
    yield
  ensure
    GC.auto_compact = before if GC.respond_to?(:auto_compact=) && !before.nil?
  end

  def stressed(&block)
    auto_compact { gc_stress(&block) }
  end

  sizes = [0, 1, 22, 23, 24, 100, 1023, 1024, 1500]

  it "is right while memory transports read and write" do
    transport = Thrift::MemoryBufferTransport.new
    got = []
    stressed do
      sizes.each do |size|
        transport.write("x" * size)
        got << transport.read_all(size)
        transport.write("ab")
        got << transport.read_byte << transport.read(1)
        buffer = "-" * 30
        transport.write("y" * 30)
        transport.read_into_buffer(buffer, 30)
        got << buffer
      end
      begin
        transport.read(1)
      rescue EOFError => e
        got << e.message
      end
    end
    expected = sizes.flat_map { |size| ["x" * size, 97, "b", "y" * 30] }
    expect(got).to eq(expected + ["Not enough bytes remain in memory buffer"])
  end

  { "framed" => Thrift::FramedTransport, "buffered" => Thrift::BufferedTransport }.each do |name, kind|
    it "is right while #{name} transports talk over a socket" do
      ours, theirs = UNIXSocket.pair
      one, two = [ours, theirs].map { |io| Thrift::Socket.new("pair", 0, 5).tap { |socket| socket.handle = io } }
      a, b = [one, two].map { |socket| kind.new(socket) }
      got = []
      stressed do
        sizes.each do |size|
          a.write("z" * size)
          a.write("\u00e9".dup)
          a.write("\u00e9")
          a.flush
          got << b.read_all(size) << b.read_byte << b.read(1) << b.read_all(2)
        end
        a.write("#{"q" * 20}abc")
        a.flush
        buffer = "-" * 20
        got << b.read_into_buffer(buffer, 20) << buffer << b.read_all(3)
        one.close
        begin
          b.read(1)
        rescue Thrift::TransportException => e
          got << e.message
        end
      end
      expected = sizes.flat_map { |size| ["z" * size, 195, "\xa9".b, "\u00e9".b] }
      expect(got).to eq(expected + [20, "q" * 20, "abc", "end of file reached"])
    end

    it "is right while #{name} transports stand on a plain object" do
      inner = PlainReadAllTransport.new(name == "framed" ? frame("abcdefgh" * 10) : "abcdefgh" * 10, most: 7)
      got = []
      stressed do
        transport = kind.new(inner)
        got << transport.read_all(20) << transport.read_byte << transport.read_all(30)
        transport.write("xyz" * 20)
        transport.flush
      end
      all = "abcdefgh" * 10
      expect(got).to eq([all[0, 20], all[20].ord, all[21, 30]])
      expect(inner.written).to eq([name == "framed" ? frame("xyz" * 20) : "xyz" * 20])
    end
  end

  it "is right while surplus goes back and comes again" do
    socket, peer = unix_pair
    got = []
    stressed do
      framed = Thrift::FramedTransport.new(socket)
      peer.write(frame("one") + frame("two" * 20) + frame("three"))
      got << framed.read_all(3) << framed.read_all(60) << framed.read_all(5)
    end
    expect(got).to eq(["one", "two" * 20, "three"])
    peer.close
  end

  it "is right while a reader waits, and when it is interrupted" do
    socket, peer = unix_pair
    framed = Thrift::FramedTransport.new(socket)
    stressed do
      reader = sleeping_thread { framed.read_all(10) }
      peer.write(frame("0123456789"))
      expect(reader.value).to eq("0123456789")
      reader = sleeping_thread { framed.read_all(10) }
      reader.kill.join
      expect(socket.open?).to be(false)
    end
    peer.close
  end

  it "is right while whole calls are made" do
    Servers.start(transport: :framed) do |server|
      server.client(timeout: 30) do |client|
        answer = client.echo(Fixtures.small) # meeting these classes takes longer under stress than a server waits
        stressed { answer = client.echo(Fixtures.small) }
        expect(answer).to eq(Fixtures.small)
      end
    end
  end

  it "is right when everything has moved" do
    Servers.start(transport: :buffered) do |server|
      server.client(timeout: 30) do |client|
        3.times do
          expect(client.batch(Fixtures.batch(20))).to eq(Fixtures.batch(20))
          compact
        end
      end
    end
  end

  describe "is taken only for what the caller gets:" do
    # Objects that 100 runs of the block allocate.
    def allocated(&block)
      3.times(&block)
      GC.disable
      before = GC.stat(:total_allocated_objects)
      100.times(&block)
      GC.stat(:total_allocated_objects) - before
    ensure
      GC.enable
    end

    it "a String a read, nothing a byte or a write" do
      inner = PlainTransport.new("x" * 200_000)
      framed = Thrift::FramedTransport.new(PlainReadAllTransport.new(frame("x" * 100_000)))
      memory = Thrift::MemoryBufferTransport.new
      memory.write("x" * 4000)
      chunk = "x".b
      buffer = "-".b * 8
      [framed, Thrift::BufferedTransport.new(inner), memory].each do |transport|
        transport.read_byte
        expect(allocated { transport.read_all(3) }).to be_between(100, 105)
        expect(allocated { transport.read_byte }).to be < 5
        expect(allocated { transport.read_into_buffer(buffer, 8) }).to be < 5
        expect(allocated { transport.write(chunk) }).to be < 5
      end
    end

    it "no more than a handful a message over a socket" do
      ours, theirs = UNIXSocket.pair
      one, two = [ours, theirs].map { |io| Thrift::Socket.new("pair", 0, 5).tap { |socket| socket.handle = io } }
      a = Thrift::FramedTransport.new(one)
      b = Thrift::FramedTransport.new(two)
      count = allocated do
        a.write("hello")
        a.flush
        b.read_all(5)
      end
      # The new @wbuf, the frame, what the caller gets; and the literal.
      expect(count).to be_between(300, 510)
    end
  end
end
