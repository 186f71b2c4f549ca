# frozen_string_literal: true

require "timeout"
require_relative "../support/certificates"
require_relative "../support/child"
require_relative "../support/pairs"
require_relative "../support/scheduler"
require_relative "../support/servers"
require_relative "../support/strace"

RSpec.describe "ext/thrift_native/peer.c" do
  include Pairs

  readers = {
    "a socket" => ->(socket) { socket.read_all(10) },
    "a framed transport" => ->(socket) { Thrift::FramedTransport.new(socket).read_all(10) },
    "a buffered transport" => ->(socket) { Thrift::BufferedTransport.new(socket).read_all(10) }
  }.freeze

  writers = {
    "a socket" => ->(socket, bytes) { socket.write(bytes) },
    "a framed transport" => lambda do |socket, bytes|
      framed = Thrift::FramedTransport.new(socket)
      framed.write(bytes)
      framed.flush
    end,
    "a buffered transport" => lambda do |socket, bytes|
      buffered = Thrift::BufferedTransport.new(socket)
      buffered.write(bytes)
      buffered.flush
    end
  }.freeze

  # More than any socket takes.
  let(:big) { 20_000_000 }

  # Yields a socket, its peer and a thread that waits in it, to read from it or to write to it.
  def waiting(kind, action, timeout: 30)
    tcp_pair(timeout: timeout) do |socket, peer|
      bytes = "x" * big if kind == :write
      yield socket, peer, sleeping_thread { kind == :read ? action.call(socket) : action.call(socket, bytes) }
    end
  end

  waits = readers.map { |name, action| ["reading #{name}", :read, action] } +
          writers.map { |name, action| ["writing #{name}", :write, action] }

  waits.each do |name, kind, action|
    describe name do
      [30, nil].each do |timeout|
        context timeout ? "with a timeout" : "without a timeout" do
          it "ends with close from another thread" do
            waiting(kind, action, timeout: timeout) do |socket, _, thread|
              socket.close
              error = transport_error { thread.value }
              expect([error.type, error.cause.class]).to eq([1, IOError])
            end
          end

          it "ends with Thread#kill, and the connection with it" do
            waiting(kind, action, timeout: timeout) do |socket, peer, thread|
              thread.kill.join
              expect(socket.open?).to be(false)
              peer.read # to its end
            end
          end
        end
      end

      it "ends with Thread#raise, as the stock gem puts it" do
        waiting(kind, action) do |socket, _, thread|
          thread.raise(ArgumentError, "stop")
          error = transport_error { thread.value }
          expect([error.type, error.message, error.cause.class]).to eq([1, "stop", ArgumentError])
          expect(socket.open?).to be(false)
        end
        waiting(kind, action) do |socket, _, thread|
          mine = Thrift::TransportException.new(77, "mine")
          thread.raise(mine)
          expect(transport_error { thread.value }).to be(mine)
          expect(socket.open?).to be(false)
        end
        waiting(kind, action) do |socket, _, thread|
          thread.raise(NotImplementedError)
          expect { thread.value }.to raise_error(NotImplementedError)
          expect(socket.open?).to be(false)
        end
      end

      it "ends with Timeout" do
        tcp_pair do |socket, _|
          expect do
            Timeout.timeout(0.05) { kind == :read ? action.call(socket) : action.call(socket, "x" * big) }
          end.to raise_error(Timeout::Error)
          expect(socket.open?).to be(false)
        end
      end

      it "ends when the peer has gone" do
        waiting(kind, action) do |socket, peer, thread|
          peer.setsockopt(Socket::Option.linger(true, 0))
          peer.close
          expect(transport_error { thread.value }.type).to eq(1)
          expect(socket.open?).to be(false)
        end
      end

      it "ends when time is up" do
        tcp_pair(timeout: 0.05) do |socket, _|
          error = transport_error { kind == :read ? action.call(socket) : action.call(socket, "x" * big) }
          expect([error.type, error.message]).to match([3, /\ASocket: Timed out/])
          expect(socket.open?).to be(false)
        end
      end

      it "goes on after a signal, another thread's work and a wake-up" do
        waiting(kind, action) do |_, peer, thread|
          caught = 0
          old = trap(:USR2) { caught += 1 }
          3.times do
            Process.kill(:USR2, Process.pid)
            thread.wakeup
            sleep(0.005)
          end
          trap(:USR2, old || "DEFAULT")
          expect(thread.alive?).to be(true)
          if kind == :read
            peer.write(frame("x" * 20))
            expect(thread.value.bytesize).to eq(10)
          else
            left = big
            left -= peer.readpartial(1 << 20).bytesize while left > 0
            expect(thread.value).not_to be_a(Exception)
          end
          expect(caught).to be > 0
        end
      end

      it "lets other fibers run" do
        skip "needs Ruby 3.1" if RUBY_VERSION < "3.1"

        tcp_pair(timeout: 10) do |socket, peer|
          order = []
          scheduler = Scheduler.run do
            Fiber.schedule do
              kind == :read ? action.call(socket) : action.call(socket, "x" * big)
              order << :done
            end
            Fiber.schedule do
              order << :other
              if kind == :read
                peer.write(frame("x" * 20))
              else
                left = big
                left -= peer.readpartial(1 << 20).bytesize while left > 0
              end
            end
            Fiber.scheduler
          end
          expect(order).to eq([:other, :done])
          expect(scheduler.calls).to include(:io_wait)
        end
      end
    end
  end

  describe "the pace" do
    def trickle(peer, bytes, every)
      Thread.new do
        bytes.each_char do |byte|
          peer.write(byte)
          sleep(every)
        end
      rescue SystemCallError, IOError
        nil # it was thrown out
      end
    end

    def above(socket, name)
      case name
      when /framed/ then Thrift::FramedTransport.new(socket)
      when /buffered/ then Thrift::BufferedTransport.new(socket)
      else socket
      end
    end

    readers.each_key do |name|
      it "is too slow for #{name} at one byte now and then" do
        tcp_pair(timeout: 0.2) do |socket, peer|
          peer.setsockopt(:TCP, :NODELAY, 1)
          transport = above(socket, name)
          peer.write([50].pack("N")) if name == "a framed transport"
          writer = trickle(peer, "x" * 50, 0.02)
          error = transport_error { transport.read_all(50) }
          expect(error.type).to eq(3)
          expect(socket.open?).to be(false)
          writer.kill.join
        end
      end

      it "is enough for #{name} at 4 KiB in each period" do
        tcp_pair(timeout: 1) do |socket, peer|
          transport = above(socket, name)
          bytes = Random.new(1).bytes((4096 * 4) + 10)
          writer = Thread.new do
            peer.write([bytes.bytesize].pack("N")) if name == "a framed transport"
            (bytes.bytesize / 4096.0).ceil.times do |i|
              sleep(0.35)
              peer.write(bytes[i * 4096, 4096])
            end
          end
          expect(transport.read_all(bytes.bytesize) == bytes).to be(true)
          writer.join
        end
      end
    end

    it "is counted from a header's first byte" do
      tcp_pair(timeout: 0.15) do |socket, peer|
        writer = trickle(peer, "\0\0\0\4abcd", 0.1)
        expect(transport_error { Thrift::FramedTransport.new(socket).read(4) }.type).to eq(3)
        writer.kill.join
      end
    end
  end

  describe "system calls" do
    before { skip "strace can't trace here" unless Strace.available? }

    # The client's in a child, so that all of them are those of the reader or writer.
    def traced(code)
      setup = <<~RUBY
        require "thrift/native"
        require "socket"
        ours, peer = UNIXSocket.pair
        socket = Thrift::Socket.new("pair", 0, 5)
        socket.handle = ours
        framed = Thrift::FramedTransport.new(socket)
        buffered = Thrift::BufferedTransport.new(socket)
        #{code[/\A(?:(?!---).)*/m]}
        $stdout.sync = true
        puts :ready
        $stdin.gets
        #{code[/---(.*)/m, 1]}
        puts :done
        $stdin.gets
      RUBY
      Child.start(setup) do |child|
        child.gets
        lines = Strace.lines(child.pid) do
          child.puts
          child.gets
        end
        yield lines.grep(/recv|send|\(\d+<?.*UNIX|POLLIN.*fd=(?!0)/).grep_v(/write\(1,|read\(0,/)
      end
    end

    it "are one receive for a small frame that is there" do
      traced(<<~RUBY) { |lines| expect(lines.map { |line| line[/\w+(?=\()/] }).to eq(["recvfrom"]) }
        peer.write([100].pack("N") + "x" * 100)
        ---
        100.times { framed.read_all(1) }
      RUBY
    end

    it "are one receive for many small values" do
      traced(<<~RUBY) { |lines| expect(lines.map { |line| line[/\w+(?=\()/] }).to eq(["recvfrom"]) }
        peer.write("x" * 100)
        ---
        100.times { buffered.read_all(1) }
      RUBY
    end

    it "are one send for a message, header and payload together" do
      traced(<<~RUBY) { |lines| expect(lines.join).to match(/\A.*sendmsg\(.*iov_len=4}.*iov_len=100}.* = 104\n\z/) }
        ---
        100.times { framed.write("x") }
        framed.flush
      RUBY
      traced(<<~RUBY) { |lines| expect(lines.map { |line| line[/\w+(?=\()/] }).to eq(["sendmsg"]) }
        ---
        100.times { buffered.write("x") }
        buffered.flush
      RUBY
    end
  end

  it "leaves the parent's connection alone when a forked child closes its own" do
    result = Child.run(<<~RUBY)
      require "thrift/native"
      require "socket"
      server = TCPServer.new("127.0.0.1", 0)
      socket = Thrift::Socket.new("127.0.0.1", server.addr[1], 5)
      socket.open
      peer = server.accept
      framed = Thrift::FramedTransport.new(socket)
      framed.write("one")
      framed.flush
      Process.wait(fork { framed.close; exit!(0) })
      framed.write("two")
      framed.flush
      puts peer.readpartial(100).inspect
      peer.write([2].pack("N") + "ok")
      puts framed.read_all(2)
    RUBY
    expect(result.out).to eq("#{"\0\0\0\3one\0\0\0\3two".b.inspect}\nok\n"), result.to_s
  end

  it "doesn't close a connection that another thread has opened meanwhile" do
    tcp_pair do |socket, _, server|
      old = socket.handle
      reader = sleeping_thread { socket.read(1) }
      socket.handle = TCPSocket.new("127.0.0.1", server.addr[1])
      old.close
      expect(transport_error { reader.value }.type).to eq(1)
      expect(socket.open?).to be(true)
    end
  end

  describe "when other code runs in the midst of it" do
    # A number of seconds of the program's own class.
    def seconds(&block)
      Object.new.tap { |number| number.define_singleton_method(:to_f) { block.call && 5.0 } }
    end

    writers.each do |name, action|
      it "writes no message of #{name} to a stranger with the same descriptor" do
        tcp_pair do |socket, _peer|
          strangers = nil
          socket.timeout = seconds do
            socket.close
            strangers ||= UNIXSocket.pair
          end
          expect(transport_error { action.call(socket, "secret") }.type).to eq(1)
          expect(strangers.map { |io| io.read_nonblock(10, exception: false) }).to eq([:wait_readable] * 2)
          strangers.each(&:close)
        end
      end
    end

    readers.each do |name, action|
      it "reads nothing of a stranger's for #{name}" do
        tcp_pair do |socket, _peer|
          one = two = nil
          socket.timeout = seconds do
            socket.close
            one, two = UNIXSocket.pair unless one
            [one, two].each { |io| io.write("stranger's") }
          end
          expect(transport_error { action.call(socket) }.type).to eq(1)
          [one, two].each(&:close)
        end
      end
    end

    it "sends no more of a message than there is, if it's shortened during the handshake" do
      server, client = UNIXSocket.pair
      ssl = OpenSSL::SSL::SSLSocket.new(server, Certificates.server_context).tap { |one| one.sync_close = true }
      Thrift::Native::Ext.handshake_later(ssl, 5)
      framed = Thrift::FramedTransport.new(Thrift::Socket.new.tap { |socket| socket.handle = ssl })
      message = framed.write("A" * 200_000)
      writer = sleeping_thread { transport_error { framed.flush } }
      message.replace("short")
      peer = OpenSSL::SSL::SSLSocket.new(client, OpenSSL::SSL::SSLContext.new)
      peer.connect
      expect(writer.value.message).to eq("message changed by another thread while it was sent")
      expect { peer.readpartial(100) }.to raise_error(/SSL_read|end of file|reset/)
      client.close
    end

    it "keeps what it reads into out of ObjectSpace" do
      read = [->(socket) { socket.read(900_000) }, ->(socket) { socket.read_all(900_000) }]
      read.each do |action|
        tcp_pair do |socket, peer|
          reader = sleeping_thread { action.call(socket) }
          ObjectSpace.each_object(String) { |string| string.replace("") if string.empty? && !string.frozen? }
          peer.write("y" * 900_000)
          bytes = reader.value
          expect([bytes.delete("y"), bytes.class, bytes.encoding]).to eq(["", String, Encoding::BINARY])
        end
      end
    end

    it "takes no more and nothing else than it asked an IO for" do
      ["x" * 70_000, nil, :bytes].each do |answer|
        result = Child.run(<<~RUBY, options: ["-I", Child::LIB, *$LOAD_PATH.map { |path| "-I#{path}" }])
          require "thrift/native"
          Socket.prepend(Module.new { define_method(:readpartial) { |*| #{answer.inspect} } })
          server = TCPServer.new("127.0.0.1", 0)
          socket = Thrift::Socket.new("127.0.0.1", server.addr[1])
          socket.open
          socket.handle.ungetbyte("x" * 100)
          begin
            p socket.read(100)
          rescue Thrift::TransportException => e
            puts e.message
          end
        RUBY
        expect(result.out).to eq("readpartial didn't return what it was asked for\n"), result.to_s
      end
    end

    it "reads the limit before the frame" do
      tcp_pair do |socket, peer|
        tcp_pair do |second, other|
          limit = Object.new
          limit.define_singleton_method(:to_int) do
            other.write("EVIL" * 10)
            second.read(40)
            1000
          end
          framed = Thrift::FramedTransport.new(socket)
          framed.instance_variable_set(:@max_frame_size, limit)
          peer.write(frame("HELLO"))
          expect(framed.read_all(5)).to eq("HELLO")
        end
      end
    end

    it "ends with a transport around itself" do
      framed = Thrift::FramedTransport.new(nil)
      framed.instance_variable_set(:@transport, framed)
      client = Class.new { include Thrift::Client }.new(Thrift::BinaryProtocol.new(framed))
      client.instance_variable_set(:@pending_seqids, [1])
      expect { client.send_message("echo", Fixtures.small.class) }.to raise_error(SystemStackError)
    end
  end

  describe "over TLS" do
    it "reads and writes messages of all sizes" do
      Servers.start(over: :tls) do |server|
        server.client do |client|
          expect(client.echo(Fixtures.small)).to eq(Fixtures.small)
          expect(client.batch(Fixtures.batch)).to eq(Fixtures.batch)
          [0, 16_379, 16_380, 16_384, 100_000].each do |size|
            expect(client.blob(size) == Fixtures.bytes(size)).to be(true)
          end
        end
      end
    end

    it "is closed when it's interrupted" do
      Servers.start(over: :tls) do |server|
        server.client do |client, transport|
          expect { Timeout.timeout(0.05) { client.sleepy(300) } }.to raise_error(Timeout::Error)
          expect(transport.open?).to be(false)
          transport.open
          expect(client.echo(Fixtures.small)).to eq(Fixtures.small)
        end
      end
    end
  end
end
