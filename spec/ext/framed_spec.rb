# frozen_string_literal: true

require "objspace"
require "stringio"
require "timeout"
require_relative "../support/child"
require_relative "../support/pairs"
require_relative "../support/servers"
require_relative "../support/transport_script"

RSpec.describe "ext/thrift_native/framed.c" do
  include Pairs

  def ivar(transport, name)
    transport.instance_variable_get(name)
  end

  describe "next to the stock gem" do
    [:framed, :framed_socket].each do |kind|
      it "answers the same over a #{kind == :framed ? "plain object" : "socket"}" do
        seeds = (1..15).to_a
        expect(TransportScript.run(kind, seeds)).to eq(TransportScript.stock(kind, seeds))
      end
    end

    it "is what the class runs" do
      expect(Thrift::Native.status[Thrift::FramedTransport].state).to eq(:native)
      expect(Thrift::FramedTransport.private_instance_methods(false)).to include(:read_frame, :__stock_read)
      expect(Thrift::FramedTransport.instance_method(:read_all).source_location).to be_nil
    end

    it "keeps the order of the instance variables" do
      names = [:@transport, :@rbuf, :@wbuf, :@read, :@write, :@index, :@max_frame_size]
      expect(Thrift::FramedTransport.new(nil).instance_variables).to eq(names)
    end
  end

  describe "limits" do
    it "takes max_frame_size on every thrift" do
      expect(Thrift::FramedTransport.new(nil).max_frame_size).to eq(16_384_000)
      expect(Thrift::FramedTransport.new(nil, true, false, max_frame_size: 10).max_frame_size).to eq(10)
      [0, -1, 0x40000000].each do |size|
        expect { Thrift::FramedTransport.new(nil, max_frame_size: size) }
          .to raise_error(ArgumentError, "max_frame_size must be > 0 and <= 1073741823")
      end
    end

    { "zero" => [0, 4, "Cannot read from a zero-length frame"],
      "negative" => [0xFFFFFFFF, 0, /Frame size 4294967295 exceeds maximum 16384000/],
      "too large" => [16_384_001, 0,
                      /Frame size 16384001 exceeds maximum 16384000/] }.each do |name, (size, type, text)|
      it "refuses a frame of #{name} size and closes the connection" do
        tcp_pair do |socket, peer|
          peer.write([size].pack("N") + "some bytes")
          error = transport_error { Thrift::FramedTransport.new(socket).read(1) }
          expect([error.type, error.message]).to match([type, text])
          expect(socket.open?).to be(false)
        end
      end

      it "refuses a frame of #{name} size from a plain object" do
        error = transport_error { Thrift::FramedTransport.new(PlainReadAllTransport.new([size].pack("N"))).read(1) }
        expect([error.type, error.message]).to match([type, text])
      end
    end

    it "names the option where thrift doesn't have it" do
      error = transport_error { Thrift::FramedTransport.new(PlainReadAllTransport.new([1 << 30].pack("N"))).read(1) }
      suffix = SpecHelpers.thrift?("0.25") ? "" : " (max_frame_size)"
      expect(error.message).to eq("Frame size 1073741824 exceeds maximum 16384000#{suffix}")
    end

    it "takes a frame of just the limit" do
      tcp_pair do |socket, peer|
        peer.write(frame("x" * 10) + frame("x" * 11))
        framed = Thrift::FramedTransport.new(socket, max_frame_size: 10)
        expect(framed.read_all(10)).to eq("x" * 10)
        expect { framed.read(1) }.to raise_error(Thrift::TransportException, /Frame size 11 exceeds maximum 10/)
      end
    end

    it "allocates only as the bytes come" do
      tcp_pair do |socket, peer|
        peer.write("#{[16_000_000].pack("N")}some")
        framed = Thrift::FramedTransport.new(socket)
        GC.start
        before = ObjectSpace.memsize_of_all(String)
        reader = sleeping_thread { framed.read(1) }
        expect(ObjectSpace.memsize_of_all(String) - before).to be < 1_000_000
        reader.kill.join
      end
    end

    it "applies to the frames of subclasses and of objects that were made without it" do
      framed = Class.new(Thrift::FramedTransport).new(PlainReadAllTransport.new([1 << 30].pack("N")))
      framed.remove_instance_variable(:@max_frame_size)
      expect { framed.read(1) }.to raise_error(Thrift::TransportException, /exceeds maximum 16384000/)
    end

    it "refuses negative sizes and takes zero without reading" do
      framed = Thrift::FramedTransport.new(PlainReadAllTransport.new)
      expect { framed.read_all(-1) }.to raise_error(Thrift::TransportException, "Negative size")
      expect([framed.read(0), framed.read(-1), framed.read_all(0)]).to eq(["", "", ""])
      expect(framed.read(0).encoding).to eq(Encoding::BINARY)
    end

    it "tells the end of a plain object, in a header or a frame" do
      ["", "ab", frame("abc")[0, 5]].each do |input|
        inner = PlainTransport.new(input)
        inner.define_singleton_method(:read_all) { |size| read(size) }
        expect(transport_error { Thrift::FramedTransport.new(inner).read(1) }.type).to eq(4)
      end
    end
  end

  describe "reading" do
    it "gathers a value from several frames" do
      tcp_pair do |socket, peer|
        peer.write(frame("ab") + frame("c") + frame("defgh"))
        framed = Thrift::FramedTransport.new(socket)
        expect(framed.read(10)).to eq("ab")
        expect(framed.read_all(4)).to eq("cdef")
        buffer = "-" * 2
        expect(framed.read_into_buffer(buffer, 2)).to eq(2)
        expect(buffer).to eq("gh")
      end
    end

    it "takes sizes beyond all bounds" do
      framed = Thrift::FramedTransport.new(PlainReadAllTransport.new(frame("abc") + frame("d")))
      framed.read(1)
      expect(framed.read((2**62) - 1)).to eq("bc")
      expect(framed.read(2**62)).to eq("d")
    end

    it "reads big frames, of sizes around those of the buffers" do
      tcp_pair do |socket, peer|
        framed = Thrift::FramedTransport.new(socket)
        [8187, 8188, 8189, 65_535, 65_536, 65_537, 300_000, 3_000_000].each do |size|
          bytes = Random.new(size).bytes(size)
          writer = Thread.new { peer.write(frame(bytes)) }
          expect(framed.read_all(size) == bytes).to be(true)
          writer.join
        end
      end
    end

    it "hands a byte buffer out by bytes, whatever its encoding" do
      framed = Thrift::FramedTransport.new(PlainReadAllTransport.new(frame("\xff\x00\x80")))
      buffer = +"\u00e9\u00e9"
      framed.read_into_buffer(buffer, 3)
      expect(buffer.b).to eq("\xff\x00\x80\xa9".b)
      expect { framed.read_into_buffer(+"ab", 3) }.to raise_error(StandardError)
    end

    it "reads through with read: false" do
      inner = PlainReadAllTransport.new("abcdef")
      inner.define_singleton_method(:read_byte) { 77 }
      framed = Thrift::FramedTransport.new(inner, false)
      expect([framed.read(2), framed.read_all(3), framed.read_byte]).to eq(["ab", "cde", 77])
    end
  end

  describe "bytes beyond the frame" do
    it "are back in the IO for whoever reads next" do
      tcp_pair do |socket, peer|
        framed = Thrift::FramedTransport.new(socket)
        peer.write(frame("first") + frame("second") + frame("third"))
        expect(framed.read(5)).to eq("first")
        io = socket.handle
        expect(IO.select([io], nil, nil, 0)).not_to be_nil
        expect(io.eof?).to be(false)
        expect(Thrift::FramedTransport.new(socket).read(6)).to eq("second")
        expect(io.read_nonblock(4)).to eq([5].pack("N"))
        expect(io.readpartial(100)).to eq("third")
        expect(IO.select([io], nil, nil, 0)).to be_nil
      end
    end

    # An IO's own buffer, once it is there, can't grow.
    it "are back also when there were few of them before and many now" do
      tcp_pair do |socket, peer|
        framed = Thrift::FramedTransport.new(socket)
        peer.write(frame("a") + frame("b"))
        expect(framed.read(1) + framed.read(1)).to eq("ab")
        peer.write(frame("c") + frame("d" * 60_000) + frame("e"))
        expect(framed.read(1)).to eq("c")
        expect(framed.read_all(60_000)).to eq("d" * 60_000)
        expect(framed.read(1)).to eq("e")
      end
    end

    it "don't come from nowhere" do
      tcp_pair do |socket, peer|
        framed = Thrift::FramedTransport.new(socket)
        random = Random.new(7)
        bodies = Array.new(300) { |i| random.bytes(i % 10 == 0 ? random.rand(1..20_000) : random.rand(1..200)) }
        writer = Thread.new do
          stream = bodies.map { |body| frame(body) }.join
          peer.write(stream.slice!(0, random.rand(1..30_000))) until stream.empty?
        end
        expect(bodies.all? { |body| framed.read_all(body.bytesize) == body }).to be(true)
        writer.join
      end
    end
  end

  describe "writing" do
    it "sends a header and what it belongs to with one write" do
      inner = PlainTransport.new
      framed = Thrift::FramedTransport.new(inner)
      framed.write("ab")
      framed.write("cdef", 2)
      expect(framed.flush).to eq("")
      expect(inner.calls).to eq([[:write, frame("abcd")], [:flush]])
    end

    it "sends an empty frame" do
      tcp_pair do |socket, peer|
        Thrift::FramedTransport.new(socket).flush
        expect(peer.readpartial(10)).to eq("\0\0\0\0")
      end
    end

    it "writes through with write: false" do
      inner = PlainTransport.new
      framed = Thrift::FramedTransport.new(inner, true, false)
      framed.write("ab")
      framed.flush
      expect(inner.calls).to eq([[:write, "ab"], [:flush]])
    end

    it "forgets what could not be sent" do
      inner = PlainTransport.new
      framed = Thrift::FramedTransport.new(inner)
      inner.define_singleton_method(:write) { |_| raise IOError, "no" }
      framed.write("stale")
      expect { framed.flush }.to raise_error(IOError, "no")
      inner.singleton_class.send(:remove_method, :write)
      framed.write("fresh")
      framed.flush
      expect(inner.written).to eq([frame("fresh")])
    end

    it "sends nothing of a failed message after reopening" do
      tcp_pair do |socket, _peer, server|
        framed = Thrift::FramedTransport.new(socket)
        socket.close
        framed.write("stale")
        expect(transport_error { framed.flush }.type).to eq(1)
        framed.open
        framed.write("fresh")
        framed.flush
        accepted = server.accept
        expect(accepted.readpartial(100)).to eq(frame("fresh"))
        accepted.close
      end
    end

    it "sends more than the peer takes at once" do
      tcp_pair do |socket, peer|
        bytes = Random.new(1).bytes(5_000_000)
        framed = Thrift::FramedTransport.new(socket)
        reader = Thread.new { peer.read(5_000_004) }
        framed.write(bytes)
        framed.flush
        expect(reader.value == frame(bytes)).to be(true)
      end
    end

    it "raises what the stock method raises" do
      framed = Thrift::FramedTransport.new(PlainTransport.new)
      expect { framed.write(nil) }.to raise_error(NoMethodError)
      expect { framed.write }.to raise_error(ArgumentError)
      expect { framed.write("a", 1, 2) }.to raise_error(ArgumentError)
    end
  end

  describe "opened again" do
    def old_connection
      tcp_pair do |socket, peer, server|
        framed = Thrift::FramedTransport.new(socket)
        peer.write(frame("old reply"))
        framed.read(3)
        yield framed, socket
        framed.write("call")
        framed.flush
        peer = server.accept
        peer.write(frame("new reply"))
        expect(framed.read(100)).to eq("new reply")
        peer.close
      end
    end

    it "reads nothing of the old connection, closed and opened by itself" do
      old_connection do |framed, _|
        framed.close
        framed.open
      end
    end

    it "reads nothing of the old connection, closed and opened by the socket" do
      old_connection do |_, socket|
        socket.close
        socket.open
      end
    end
  end

  describe "interrupted" do
    it "is closed, and the next call never gets the old reply" do
      Servers.start(transport: :framed) do |server|
        server.client(timeout: 10) do |client, transport|
          interruption = Class.new(RuntimeError)
          caller = sleeping_thread { client.sleepy(300) }
          sleep(0.02)
          caller.raise(interruption)
          expect { caller.value }.to raise_error(Thrift::TransportException)
          expect(transport.open?).to be(false)
          transport.open
          expect(client.echo(Fixtures.small(5))).to eq(Fixtures.small(5))

          expect { Timeout.timeout(0.05) { client.sleepy(300) } }.to raise_error(Timeout::Error)
          expect(transport.open?).to be(false)
          transport.open
          expect(client.echo(Fixtures.small(6))).to eq(Fixtures.small(6))
        end
      end
    end

    it "keeps nothing of the frame that was cut" do
      tcp_pair do |socket, peer|
        framed = Thrift::FramedTransport.new(socket)
        framed.write("half a message")
        peer.write(frame("abcdef")[0, 7])
        reader = sleeping_thread { framed.read(1) }
        reader.kill.join
        expect([ivar(framed, :@rbuf), ivar(framed, :@wbuf), ivar(framed, :@index)]).to eq(["", "", 0])
        expect(socket.open?).to be(false)
      end
    end
  end

  describe "what programs do with it" do
    it "lets subclasses override anything" do
      subclass = Class.new(Thrift::FramedTransport) do
        attr_reader :frames

        def read(size)
          super(size).upcase
        end

        def write(bytes, size = nil)
          super("<#{bytes}>", size)
        end

        def close
          @closed = true
          super
        end

        private

        def read_frame
          @frames = (@frames || 0) + 1
          super
        end
      end
      inner = PlainReadAllTransport.new(frame("abc") + frame("def"))
      framed = subclass.new(inner)
      expect([framed.read(2), framed.read_all(3), framed.frames]).to eq(["AB", "CDE", 2])
      framed.write("x")
      framed.flush
      framed.close
      expect(inner.written).to eq([frame("<x>")])
      expect(inner.calls.last).to eq([:close])
    end

    it "lets subclasses read frames of their own, as SASL transports do" do
      sasl = Class.new(Thrift::FramedTransport) do
        def initialize(*)
          super
          @index = 0
        end

        def flush
          @transport.write("\1".b + [@wbuf.bytesize].pack("N") + @wbuf)
          @transport.flush
          @wbuf = Thrift::Bytes.empty_byte_buffer
        end

        private

        def read_frame
          _status, size = @transport.read_all(5).unpack("CN")
          @index = 0
          @rbuf = @transport.read_all(size)
        end
      end
      inner = PlainReadAllTransport.new("\1".b + frame("abc"))
      framed = sasl.new(inner)
      expect(framed.read_all(2) + framed.read_byte.chr).to eq("abc")
      framed.write("x")
      framed.flush
      expect(inner.written).to eq(["\1".b + frame("x")])
    end

    it "obeys singleton methods, also those that come later" do
      framed = Thrift::FramedTransport.new(PlainReadAllTransport.new(frame("abcdef")))
      expect(framed.read(1)).to eq("a")
      def framed.read(size)
        super(size).upcase
      end
      expect(framed.read_all(2)).to eq("BC")
      framed.singleton_class.send(:define_method, :read_frame) { raise "no more" }
      expect { framed.read_all(10) }.to raise_error("no more")
    end

    it "obeys doubles and any_instance, and goes on afterwards" do
      framed = Thrift::FramedTransport.new(PlainReadAllTransport.new(frame("abc")))
      allow(framed).to receive(:read).and_return("stubbed")
      expect(framed.read_all(7)).to eq("stubbed")
      inner = double("inner", read_all: nil)
      expect(inner).to receive(:write).with(frame("x")).ordered
      expect(inner).to receive(:flush).ordered
      other = Thrift::FramedTransport.new(inner)
      other.write("x")
      other.flush
    end

    it "sees what programs put into @rbuf, @index and @wbuf" do
      inner = PlainTransport.new
      framed = Thrift::FramedTransport.new(inner)
      framed.instance_variable_set(:@rbuf, "hello".b)
      framed.instance_variable_set(:@index, 1)
      expect([framed.read(2), framed.read_byte, ivar(framed, :@index)]).to eq(["el", 108, 4])
      framed.instance_variable_set(:@wbuf, "abc".b)
      framed.write("d")
      framed.flush
      expect(inner.written).to eq([frame("abcd")])
      framed.instance_variable_set(:@transport, other = PlainReadAllTransport.new(frame("z")))
      expect(framed.read_all(2)).to eq("oz")
      expect(other.input).to eq("")
    end

    it "can be copied, dumped, loaded and frozen" do
      framed = Thrift::FramedTransport.new(PlainReadAllTransport.new(frame("abc")))
      framed.read(1)
      copy = framed.dup
      loaded = Marshal.load(Marshal.dump(framed))
      expect([copy.read(2), loaded.read(2), framed.read(2)]).to eq(%w[bc bc bc])
      framed = Thrift::FramedTransport.new(PlainReadAllTransport.new(frame("abc"))).freeze
      expect { framed.read(1) }.to raise_error(FrozenError)
      expect { framed.flush }.to raise_error(FrozenError)
    end

    it "carries JSON, and is carried by IO streams and header transports" do
      stream = StringIO.new("".b)
      framed = Thrift::FramedTransport.new(Thrift::IOStreamTransport.new(stream, stream))
      protocol = Thrift::JsonProtocol.new(framed)
      Fixtures.item.write(protocol)
      framed.flush
      stream.rewind
      expect(Fixtures::Item.new.tap { |item| item.read(protocol) }).to eq(Fixtures.item)
      next unless Thrift.const_defined?(:HeaderProtocol)

      memory = Thrift::MemoryBufferTransport.new
      header = Thrift::HeaderProtocol.new(memory)
      header.write_message_begin("m", Thrift::MessageTypes::CALL, 1)
      Fixtures.item.write(header)
      header.write_message_end
      header.trans.flush
      reader = Thrift::HeaderProtocol.new(memory)
      expect(reader.read_message_begin).to eq(["m", Thrift::MessageTypes::CALL, 1])
      expect(Fixtures::Item.new.tap { |item| item.read(reader) }).to eq(Fixtures.item)
    end

    it "goes over HTTP" do
      server = TCPServer.new("127.0.0.1", 0)
      answering = Thread.new do
        client = server.accept
        header = client.gets("\r\n\r\n")
        body = client.read(header[/content-length: (\d+)/i, 1].to_i)
        client.write("HTTP/1.1 200 OK\r\nContent-Length: #{body.bytesize}\r\nConnection: close\r\n\r\n#{body}")
        client.close
      end
      http = Thrift::HTTPClientTransport.new("http://127.0.0.1:#{server.addr[1]}/")
      framed = Thrift::FramedTransport.new(http)
      framed.write("over http")
      framed.flush
      expect(framed.read_all(9)).to eq("over http")
      answering.join
      server.close
    end
  end

  describe "patched in a program of its own" do
    before_ours = <<~RUBY
      require "thrift"
      %s
      require "thrift/native"
    RUBY
    after_ours = <<~RUBY
      require "thrift/native"
      %s
    RUBY
    use = <<~RUBY
      require "stringio"
      io = StringIO.new([3].pack("N") + "abc" + [3].pack("N") + "def")
      framed = Thrift::FramedTransport.new(Thrift::IOStreamTransport.new(io, out = StringIO.new))
      puts framed.read(1), framed.read_all(4)
      framed.write("xy")
      framed.flush
      puts out.string.bytes.inspect
    RUBY
    chain = <<~RUBY
      class Thrift::FramedTransport
        alias_method :read_without_log, :read
        def read(size)
          read_without_log(size).upcase
        end
        alias_method :flush_without_log, :flush
        def flush
          @wbuf << "!"
          flush_without_log
        end
      end
    RUBY
    prepended = <<~RUBY
      module Loud
        def read(size)
          super.upcase
        end
        def flush
          @wbuf << "!"
          super
        end
      end
      Thrift::FramedTransport.prepend(Loud)
    RUBY
    frames = <<~RUBY
      class Thrift::FramedTransport
        private
        alias_method :quiet_read_frame, :read_frame
        def read_frame
          quiet_read_frame
          @rbuf = @rbuf.upcase
          @wbuf << "!" if @wbuf.empty?
        end
      end
    RUBY
    base = <<~RUBY
      class Thrift::BaseTransport
        alias_method :old_read_all, :read_all
        def read_all(size)
          old_read_all(size).upcase
        end
      end
      class Thrift::FramedTransport
        alias_method :old_read, :read
        def read(size)
          old_read(size).upcase
        end
        alias_method :old_write, :write
        def write(*args)
          old_write(*args)
          @wbuf << "!"
        end
      end
    RUBY
    { "an alias chain" => chain, "a prepended module" => prepended, "a private method" => frames,
      "an inherited method" => base }.each do |name, patch|
      { "before" => before_ours, "after" => after_ours }.each do |time, order|
        it "obeys #{name} made #{time} ours was loaded" do
          result = Child.run(format(order, patch) + use)
          expect(result.out.lines(chomp: true).first(2)).to eq(%w[A BCDE]), result.to_s
          expect(result.out.lines[2].scan(/\d+/).map(&:to_i).sort).to eq([0, 0, 0, 3, 33, 120, 121])
          expect(result.err).to eq("")
        end
      end
    end

    it "takes transports that were made before ours was loaded" do
      result = Child.run(<<~RUBY)
        require "thrift"
        #{use.sub("puts framed.read(1), framed.read_all(4)", "puts framed.read(1)\nrequire 'thrift/native'\nputs framed.read_all(4)")}
      RUBY
      expect(result.out).to eq("a\nbcde\n[0, 0, 0, 2, 120, 121]\n"), result.to_s
    end

    it "obeys any_instance" do
      result = Child.run(<<~RUBY, options: ["-I", Child::LIB, "-rrspec/mocks/standalone"])
        require "thrift/native"
        framed = Thrift::FramedTransport.new(nil)
        allow_any_instance_of(Thrift::FramedTransport).to receive(:read).and_return("stub")
        puts framed.read_all(4), Thrift::Native::Ext.exact?(:framed)
      RUBY
      expect(result.out).to eq("stub\nfalse\n"), result.to_s
    end
  end
end
