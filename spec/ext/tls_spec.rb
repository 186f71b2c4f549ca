# frozen_string_literal: true

require "spec_helper"
require "openssl"
require "socket"
require "timeout"
require "support/certificates"
require "support/child"

# All of this runs twice: with SSL_read and friends called directly, and (in a child process) with
# THRIFT_NATIVE_TLS=ruby through SSLSocket's methods. What is expected is what SSLSocket's own methods do on a
# connection of the same kind.
RSpec.describe "TLS" do
  direct = ENV["THRIFT_NATIVE_TLS"] != "ruby"
  ext = SpecHelpers.native? ? Thrift::Native::Ext : nil

  # Connected, not shaken hands: the server's end and the client's.
  def ends(server_context = Certificates.server_context, client_context = Certificates.client_context)
    listener = TCPServer.new("127.0.0.1", 0)
    near = TCPSocket.new("127.0.0.1", listener.addr[1])
    made = [[listener.accept, server_context], [near, client_context]].map do |socket, context|
      OpenSSL::SSL::SSLSocket.new(socket, context).tap { |ssl| ssl.sync_close = true }
    end
    kept.concat(made) # or GC closes the end that an example doesn't name
    made
  ensure
    listener.close
  end

  def kept
    @kept ||= []
  end

  around { |example| ENV["GC_STRESS"] == "1" ? example.run : Timeout.timeout(120) { example.run } }

  after { kept.each { |ssl| ssl.to_io.close } }

  # Connects the client in a thread of its own meanwhile.
  def shake(server, client, timeout = 20)
    connecting = Thread.new { client.connect }
    connecting.report_on_exception = false
    Thrift::Native::Ext.handshake(server, timeout)
    connecting.value
    server
  end

  def established(server_context = Certificates.server_context, client_context = Certificates.client_context)
    server, client = ends(server_context, client_context)
    shake(server, client)
    # With its session tickets unread, a client that closes would send a reset.
    server.syswrite(".")
    client.readpartial(1)
    [thrift(server), client, server]
  end

  def thrift(handle, timeout = 20)
    Thrift::Socket.new("localhost", 0, timeout).tap { |socket| socket.handle = handle }
  end

  # The error that made ours close the connection.
  def cause
    yield
    nil
  rescue Thrift::TransportException => e
    e.cause
  end

  def outcome
    yield
    nil
  rescue StandardError => e
    [e.class, e.message.gsub(/127\.0\.0\.1:\d+/, "peer"), *(e.errors if e.respond_to?(:errors))]
  end

  def reset(client)
    client.to_io.setsockopt(Socket::SOL_SOCKET, Socket::SO_LINGER, [1, 0].pack("ii"))
    client.to_io.close
  end

  def arrived(ssl)
    raise "nothing came" unless ssl.to_io.wait_readable(20)
  end

  # Runs the block in a thread and steps aside again and again until it is in the midst of a step without the VM lock,
  # which shows in the SSLSocket being out of reach. False if it was over too soon.
  def caught_unlocked(server, thread)
    while thread.alive?
      begin
        server.state
      rescue RuntimeError => e
        raise unless e.message == "SSL is not initialized"

        return true
      end
      Thread.pass
    end
    false
  end

  # A server context whose private key operation takes milliseconds.
  def slow_context
    @slow_context ||= Certificates.server_context(kind: :rsa, bits: 4096)
  end

  describe ".tls_status" do
    it "says what is in use" do
      expect(ext.tls_status).to eq(direct ? "direct" : "THRIFT_NATIVE_TLS=ruby")
    end

    it "waits for the program to load openssl" do
      result = Child.run(<<~RUBY)
        require "thrift/native"
        status = Thrift::Native::Ext.method(:tls_status)
        puts status.call unless defined?(OpenSSL)
        require "openssl"
        puts status.call
      RUBY
      expect(result.out.lines.map(&:chomp).last).to eq(ext.tls_status), result.to_s
      expect(result.out.lines.map(&:chomp).first).to eq("openssl is not loaded").or eq(ext.tls_status)
    end

    it "leaves alone a program that watches SSLSocket's methods, and lets it see the calls" do
      result = Child.run(<<~RUBY, options: ["-I", Child::LIB, "-I", File.expand_path("..", __dir__)])
        require "openssl"
        require "socket"
        $seen = []
        watch = Module.new do
          def read_nonblock(*args, **how)
            $seen << :read
            super
          end

          def write_nonblock(*args, **how)
            $seen << :write
            super
          end
        end
        OpenSSL::SSL::SSLSocket.prepend(watch)
        require "thrift/native"
        require "support/certificates"
        listener = TCPServer.new("127.0.0.1", 0)
        client = OpenSSL::SSL::SSLSocket.new(TCPSocket.new("127.0.0.1", listener.addr[1]))
        server = OpenSSL::SSL::SSLSocket.new(listener.accept, Certificates.server_context)
        connecting = Thread.new { client.connect }
        Thrift::Native::Ext.handshake(server, 10)
        connecting.join
        socket = Thrift::Socket.new
        socket.handle = server
        socket.write("there")
        client.write(client.readpartial(10) + " and back")
        puts socket.read(99), Thrift::Native::Ext.tls_status, $seen.inspect
      RUBY
      expect(result.out).to start_with("there and back\nchanged by the program: SSLSocket#"), result.to_s
      expect(result.out.lines.last).to match(/:write.*:read/)
    end
  end

  describe "reading" do
    it "gives what there is, at most what was asked for" do
      socket, client = established
      client.write("abcdef")
      expect(socket.read(4)).to eq("abcd")
      expect(socket.read(4)).to eq("ef")
    end

    it "gives more than a record, in pieces" do
      socket, client = established
      bytes = Random.bytes(100_000)
      writing = Thread.new { client.write(bytes) }
      expect(socket.read_all(bytes.bytesize)).to eq(bytes)
      writing.join
    end

    it "gives the bytes in SSLSocket's own buffer first" do
      socket, client, server = established
      client.write("line\nrest")
      expect(server.gets).to eq("line\n")
      server.ungetc("<")
      client.write("more")
      expect(socket.read_all(9)).to eq("<restmore")
    end

    it "ends as SSLSocket does when the peer says so" do
      expected = outcome do
        _, client, server = established
        client.close
        server.readpartial(1)
      end
      socket, client = established
      client.write("last")
      client.close
      expect(socket.read(10)).to eq("last")
      expect(cause { socket.read(1) }).to have_attributes(class: expected[0], message: expected[1])
      expect(expected[0]).to be(EOFError)
      expect(socket).not_to be_open
    end

    it "ends as SSLSocket does when the peer is cut off" do
      expected = outcome do
        _, client, server = established
        client.to_io.close
        server.readpartial(1)
      end
      socket, client = established
      client.to_io.close
      expect(cause { socket.read(1) }).to have_attributes(class: expected[0], message: expected[1])
    end

    it "takes a cut-off for an end where the context allows it" do
      skip "not in this OpenSSL" unless OpenSSL::SSL.const_defined?(:OP_IGNORE_UNEXPECTED_EOF)

      context = Certificates.server_context
      context.options |= OpenSSL::SSL::OP_IGNORE_UNEXPECTED_EOF
      socket, client = established(context)
      client.to_io.close
      expect(cause { socket.read(1) }).to be_a(EOFError)
    end

    it "fails as SSLSocket does after a reset" do
      socket, client = established
      reset(client)
      expect(cause { socket.read(1) }).to be_a(Errno::ECONNRESET)
    end

    it "fails as SSLSocket does on garbage" do
      expected = outcome do
        _, client, server = established
        client.to_io.write("this is no TLS record")
        server.readpartial(1)
      end
      socket, client = established
      client.to_io.write("this is no TLS record")
      expect(cause { socket.read(1) }).to have_attributes(class: expected[0], message: expected[1])
    end

    it "does not take another connection's error for its own" do
      healthy, healthy_client = established
      broken, client = established
      client.to_io.write("this is no TLS record")
      expect { broken.read(1) }.to raise_error(Thrift::TransportException)
      waiting = Thread.new { healthy.read(2) }
      Thread.pass until waiting.stop?
      healthy_client.write("ok")
      expect(waiting.value).to eq("ok")
    end

    it "times out, and an interruption closes the connection" do
      socket, = established
      socket.timeout = 0.01
      expect { socket.read(1) }.to raise_error(Thrift::TransportException) { |e|
        expect(e.type).to eq(Thrift::TransportException::TIMED_OUT)
      }
    end

    it "refuses a handle that was closed, and one that has not shaken hands, as SSLSocket does" do
      socket, _, server = established
      server.close
      expect { socket.read(1) }.to raise_error(Thrift::TransportException, "closed stream")

      server, = ends
      expected = outcome { ends.first.readpartial(1) }
      skip "older gems read the bare socket" unless expected && expected[0] == OpenSSL::SSL::SSLError
      expect(cause { thrift(server).read(1) }).to have_attributes(class: expected[0], message: expected[1])
    end

    it "serves a context whose session_new_cb runs inside SSL_read" do
      tickets = []
      context = Certificates.client_context
      context.session_cache_mode = OpenSSL::SSL::SSLContext::SESSION_CACHE_CLIENT
      context.session_new_cb = lambda do |(_, session)|
        GC.start
        tickets << session
        Thread.pass
      end
      server, client = ends(Certificates.server_context, context)
      shake(server, client)
      server.write("after the tickets")
      expect(thrift(client).read(99)).to eq("after the tickets")
      expect(tickets).not_to be_empty
    end

    it "survives GC.stress and compaction" do
      socket, client = established
      gc_stress do
        client.write("a")
        expect(socket.read(10)).to eq("a")
        client.close
        expect { socket.read(1) }.to raise_error(Thrift::TransportException)
      end
      compact
    end
  end

  describe "writing" do
    it "sends everything through small buffers, both ways at once" do
      socket, client, server = established
      [server, client].each { |ssl| ssl.to_io.setsockopt(Socket::SOL_SOCKET, Socket::SO_SNDBUF, 4096) }
      there = Random.bytes(300_000)
      back = Random.bytes(300_000)
      other = thrift(client)
      got = nil
      threads = [
        Thread.new { socket.write(there) },
        Thread.new { other.write(back) },
        Thread.new { got = other.read_all(there.bytesize) }
      ]
      expect(socket.read_all(back.bytesize)).to eq(back)
      threads.each(&:join)
      expect(got).to eq(there)
    end

    it "sends what waits in SSLSocket's own buffer first" do
      socket, client, server = established
      server.sync = false
      server.write("one, ")
      socket.write("two")
      expect(client.read(8)).to eq("one, two")
    end

    it "times out when nobody reads" do
      socket, = established
      socket.timeout = 0.05
      expect { socket.write("x" * 20_000_000) }.to raise_error(Thrift::TransportException) { |e|
        expect(e.type).to eq(Thrift::TransportException::TIMED_OUT)
      }
      expect(socket).not_to be_open
    end

    it "fails as SSLSocket does after a reset" do
      expected = outcome do
        _, client, server = established
        reset(client)
        arrived(server)
        server.syswrite("x")
      end
      socket, client, server = established
      reset(client)
      arrived(server)
      expect(cause { socket.write("x") }).to have_attributes(class: expected[0], message: expected[1])
    end

    it "survives GC.stress and compaction" do
      socket, client = established
      gc_stress { socket.write("a" * 20_000) }
      expect(client.read(20_000)).to eq("a" * 20_000)
      compact
    end
  end

  describe "changes of keys" do
    def s_client(server_context, *options)
      skip "no openssl program" unless system("openssl", "version", out: File::NULL, err: File::NULL)

      listener = TCPServer.new("127.0.0.1", 0)
      command = ["openssl", "s_client", "-connect", "127.0.0.1:#{listener.addr[1]}", *options]
      IO.popen(command, "r+", err: File::NULL) do |program|
        server = OpenSSL::SSL::SSLSocket.new(listener.accept, server_context)
        server.sync_close = true
        ext_handshake(server)
        yield thrift(server), program
      ensure
        server&.close
        Process.kill(:KILL, program.pid)
      end
    ensure
      listener&.close
    end

    def ext_handshake(server)
      Thrift::Native::Ext.handshake(server, 20)
    end

    def type(program, line)
      program.puts(line)
      program.flush
    end

    it "are no bytes (TLS 1.3, asked for by the client)" do
      s_client(Certificates.server_context, "-tls1_3") do |socket, program|
        type(program, "before")
        expect(socket.read_all(7)).to eq("before\n")
        type(program, "K")
        sleep(0.05) # s_client takes a command only at the start of what it reads at once
        type(program, "after")
        expect(socket.read_all(6)).to eq("after\n")
        socket.write("server's\n")
        expect(program.each_line.find { |line| line == "server's\n" }).to be_truthy
      end
    end

    it "run renegotiation_cb (TLS 1.2)" do
      skip "not in this OpenSSL" unless OpenSSL::SSL.const_defined?(:OP_ALLOW_CLIENT_RENEGOTIATION)

      asked = 0
      context = Certificates.server_context
      context.options |= OpenSSL::SSL::OP_ALLOW_CLIENT_RENEGOTIATION
      context.renegotiation_cb = ->(_) { asked += 1 }
      s_client(context, "-tls1_2") do |socket, program|
        type(program, "before")
        expect(socket.read_all(7)).to eq("before\n")
        first = asked
        type(program, "R")
        sleep(0.05)
        type(program, "after")
        expect(socket.read_all(6)).to eq("after\n")
        expect(asked).to be > first
      end
    end

    it "go by without a callback (TLS 1.2)" do
      skip "not in this OpenSSL" unless OpenSSL::SSL.const_defined?(:OP_ALLOW_CLIENT_RENEGOTIATION)

      context = Certificates.server_context
      context.options |= OpenSSL::SSL::OP_ALLOW_CLIENT_RENEGOTIATION
      s_client(context, "-tls1_2", "-cipher", "ECDHE") do |socket, program|
        type(program, "R")
        sleep(0.05)
        type(program, "after")
        expect(socket.read_all(6)).to eq("after\n")
      end
    end
  end

  describe ".handshake" do
    it "leaves the SSLSocket as #accept does" do
      theirs, = ends.tap do |server, client|
        connecting = Thread.new { client.connect }
        server.accept
        connecting.join
      end
      server, client = ends
      expect(shake(server, client)).to equal(server)
      [:peer_cert, :cipher, :ssl_version, :verify_result, :alpn_protocol, :session_reused?, :state].each do |method|
        expect([method, server.public_send(method)]).to eq([method, theirs.public_send(method)])
      end
      expect(server.session).to be_a(OpenSSL::SSL::Session)
      server.write("hello")
      expect(client.readpartial(9)).to eq("hello")
      server.close
      expect(client.read).to eq("") # close_notify, not an error
    end

    it "works with TLS 1.2, RSA, and a choice of keys" do
      context = Certificates.server_context
      rsa = Certificates.server(kind: :rsa)
      context.cert = context.key = nil
      context.add_certificate(rsa.cert, rsa.key)
      ec = Certificates.server
      context.add_certificate(ec.cert, ec.key)
      { "ECDHE-RSA-AES128-GCM-SHA256" => rsa, "ECDHE-ECDSA-AES128-GCM-SHA256" => ec }.each do |cipher, pair|
        asking = Certificates.client_context
        asking.max_version = OpenSSL::SSL::TLS1_2_VERSION
        asking.ciphers = cipher
        server, client = ends(context, asking)
        shake(server, client)
        expect([server.ssl_version, server.cipher[0]]).to eq(["TLSv1.2", cipher])
        expect(client.peer_cert.to_der).to eq(pair.cert.to_der)
      end
    end

    it "serves a client that offers nothing but DHE, for which older openssl gems run Ruby" do
      result = Child.run(<<~RUBY, options: ["-I", Child::LIB, "-I", File.expand_path("..", __dir__)])
        require "openssl"
        require "socket"
        require "thrift/native"
        require "support/certificates"
        asked = 0
        if OpenSSL::SSL::SSLContext.const_defined?(:DEFAULT_TMP_DH_CALLBACK)
          callback = OpenSSL::SSL::SSLContext.send(:remove_const, :DEFAULT_TMP_DH_CALLBACK)
          OpenSSL::SSL::SSLContext::DEFAULT_TMP_DH_CALLBACK = lambda do |*args|
            asked += 1
            GC.start
            5.times { Thread.pass } # nobody survives this without the VM lock
            callback.call(*args)
          end
        else
          asked = 5
        end
        busy = Thread.new { loop { Array.new(100) { |i| i.to_s } } }
        asking = Certificates.client_context
        asking.max_version = OpenSSL::SSL::TLS1_2_VERSION
        asking.ciphers = "DHE-RSA-AES128-GCM-SHA256"
        5.times do
          listener = TCPServer.new("127.0.0.1", 0)
          client = OpenSSL::SSL::SSLSocket.new(TCPSocket.new("127.0.0.1", listener.addr[1]), asking)
          server = OpenSSL::SSL::SSLSocket.new(listener.accept, Certificates.server_context(kind: :rsa))
          connecting = Thread.new { client.connect }
          Thrift::Native::Ext.handshake(server, 20)
          connecting.join
          puts server.cipher[0]
        end
        busy.kill
        puts asked
      RUBY
      expect(result.out).to eq("DHE-RSA-AES128-GCM-SHA256\n" * 5 + "5\n"), result.to_s
    end

    it "takes up a session again" do
      [OpenSSL::SSL::TLS1_2_VERSION, nil].each do |version|
        context = Certificates.server_context
        context.session_id_context = "thrift_native"
        asking = Certificates.client_context
        asking.max_version = version if version
        server, client = ends(context, asking)
        shake(server, client)
        server.write("x")
        client.read(1)
        again, client_again = ends(context, asking)
        client_again.session = client.session
        shake(again, client_again)
        expect([version, again.session_reused?]).to eq([version, true])
      end
    end

    it "runs the program's callbacks" do
      seen = []
      context = Certificates.server_context
      inner = Certificates.server_context(kind: :rsa)
      inner.alpn_select_cb = ->(protocols) { protocols.last }
      context.servername_cb = lambda do |(_, name)|
        GC.start
        seen << name
        inner
      end
      asking = Certificates.client_context
      asking.alpn_protocols = ["one", "two"]
      server, client = ends(context, asking)
      client.hostname = "localhost"
      shake(server, client)
      expect(seen).to eq(["localhost"])
      expect(server.alpn_protocol).to eq("two")
      expect(client.peer_cert.public_key).to be_a(OpenSSL::PKey::RSA)
    end

    it "passes on what a callback raises" do
      context = Certificates.server_context
      context.servername_cb = ->(_) { raise ArgumentError, "from the callback" }
      server, client = ends(context)
      client.hostname = "localhost"
      expect { shake(server, client) }.to raise_error(ArgumentError, "from the callback")
    end

    it "verifies the client where the context asks for it" do
      verified = []
      context = Certificates.server_context(verify_client: true)
      context.verify_callback = lambda do |ok, _|
        verified << ok
        ok
      end
      server, client = ends(context, Certificates.client_context(Certificates.client))
      shake(server, client)
      expect(server.peer_cert.to_der).to eq(Certificates.client.cert.to_der)
      expect(verified).to include(true)

      server, client = ends(Certificates.server_context(verify_client: true))
      connecting = Thread.new { outcome { client.connect && client.read } }
      expect { ext.handshake(server, 20) }.to raise_error(OpenSSL::SSL::SSLError, /peer did not return a certificate/)
      server.close
      connecting.join
    end

    it "runs the callback of the certificate store, which checks the server's own chain" do
      states = []
      server = nil
      context = Certificates.server_context
      context.cert_store.verify_callback = lambda do |ok, _|
        states << server.state # it would be out of reach without the VM lock
        ok
      end
      server, client = ends(context)
      shake(server, client)
      expect(states).not_to be_empty
    end

    it "fails as SSLSocket#accept does" do
      {
        "plain text" => ->(client) { client.to_io.write("GET / HTTP/1.0\r\n\r\n") },
        "garbage" => ->(client) { client.to_io.write("\x80\x00\xff\xff" * 20) },
        "nothing, and a clean end" => ->(client) { client.to_io.close },
        "a record cut off" => ->(client) { client.to_io.write("\x16\x03\x01\x02\x00\x01") && client.to_io.close },
        "a reset" => ->(client) { reset(client) }
      }.each do |what, act|
        results = [->(server) { server.accept }, ->(server) { ext.handshake(server, 20) }].map do |shaking|
          server, client = ends
          act.call(client)
          arrived(server)
          outcome { shaking.call(server) }
        end
        expect([what, results[1]]).to eq([what, results[0]])
        expect(results[0]).not_to be_nil
      end
    end

    it "fails as SSLSocket#accept does on versions and ciphers that don't match" do
      context = Certificates.server_context
      context.min_version = OpenSSL::SSL::TLS1_3_VERSION
      asking = Certificates.client_context
      asking.max_version = OpenSSL::SSL::TLS1_2_VERSION
      results = [->(server) { server.accept }, ->(server) { ext.handshake(server, 20) }].map do |shaking|
        server, client = ends(context, asking)
        connecting = Thread.new { outcome { client.connect } }
        outcome { shaking.call(server) }.tap { connecting.join }
      end
      expect(results[1]).to eq(results[0])
      expect(results[0][0]).to be(OpenSSL::SSL::SSLError)
    end

    it "gives a silent client so much time and no more" do
      server, client = ends
      message = "SSL server socket: Timed out accepting TLS connection"
      expect { ext.handshake(server, 0.02) }.to raise_error(OpenSSL::SSL::SSLError, message)
      client.to_io.write("\x16\x03\x01\x02\x00\x01")
      expect { ext.handshake(server, 0.02) }.to raise_error(OpenSSL::SSL::SSLError, message)
    end

    it "lets others shake hands while one client is silent" do
      silent, = ends
      order = []
      waiting = Thread.new do
        ext.handshake(silent, nil)
      ensure
        order << :silent
      end
      Thread.pass until waiting.stop?
      3.times do
        server, client = ends
        shake(server, client)
        order << :other
      end
      waiting.kill
      waiting.join
      expect(order).to eq([:other, :other, :other, :silent])
    end

    it "can be left by Thread#raise and taken up again" do
      server, client = ends
      waiting = Thread.new { ext.handshake(server, nil) }
      waiting.report_on_exception = false
      Thread.pass until waiting.stop?
      waiting.raise(ArgumentError, "enough")
      expect { waiting.join }.to raise_error(ArgumentError, "enough")
      shake(server, client)
      client.write("x")
      expect(thrift(server).read(1)).to eq("x")
    end

    it "ends when another thread closes the IO" do
      server, = ends
      waiting = Thread.new { outcome { ext.handshake(server, nil) } }
      Thread.pass until waiting.stop?
      server.to_io.close
      expect(waiting.value[0]).to be(IOError)
    end

    it "is done before the first read or write where it was put off" do
      server, client = ends
      skip "not there" unless ext.respond_to?(:handshake_later)

      connecting = Thread.new { client.connect }
      expect(ext.handshake_later(server, 20)).to be(true)
      socket = thrift(server)
      reading = Thread.new { socket.read(1) }
      connecting.join
      client.write("x")
      expect(reading.value).to eq("x")

      server, client = ends
      ext.handshake_later(server, 20)
      shake(server, client)
      client.write("y")
      expect(thrift(server).read(1)).to eq("y")
    end

    it "survives GC.stress and compaction, going well and badly" do
      context = Certificates.server_context
      server, client = ends(context)
      connecting = Thread.new { client.connect }
      gc_stress { ext.handshake(server, 20) }
      connecting.join
      server, client = ends(context)
      client.to_io.write("GET / HTTP/1.0\r\n\r\n")
      gc_stress { expect { ext.handshake(server, 20) }.to raise_error(OpenSSL::SSL::SSLError) }
      compact
    end

    if direct
      it "holds neither the VM lock nor gives away the SSLSocket during the private key operation" do
        seen = Array.new(20) do
          server, client = ends(slow_context)
          connecting = Thread.new { client.connect }
          shaking = Thread.new { ext.handshake(server, 20) }
          caught = caught_unlocked(server, shaking)
          [shaking, connecting].each(&:join)
          break [true] if caught
        end
        expect(seen).to include(true)
      end

      it "keeps the VM lock, and the SSLSocket in its place, where Ruby may run" do
        context = Certificates.server_context(kind: :rsa, bits: 4096)
        context.servername_cb = ->(_) {}
        server, client = ends(context)
        connecting = Thread.new { client.connect }
        shaking = Thread.new { ext.handshake(server, 20) }
        expect(caught_unlocked(server, shaking)).to be(false)
        [shaking, connecting].each(&:join)
      end

      it "loses nothing when the thread is killed in the midst of it" do
        killed = 0
        20.times do
          server, client = ends(slow_context)
          connecting = Thread.new { client.connect }
          shaking = Thread.new { ext.handshake(server, 20) }
          next [shaking, connecting].each(&:join) unless caught_unlocked(server, shaking)

          shaking.kill
          shaking.join
          killed += 1
          ext.handshake(server, 20)
          connecting.join
          client.write("x")
          expect(thrift(server).read(1)).to eq("x")
          break if killed == 3
        end
        expect(killed).to be > 0
      end

      it "waits for the step before the descriptor is given away" do
        20.times do
          server, client = ends(slow_context)
          connecting = Thread.new { outcome { client.connect } }
          shaking = Thread.new { outcome { ext.handshake(server, 20) } }
          next [shaking, connecting].each(&:join) unless caught_unlocked(server, shaking)

          server.to_io.close
          expect(shaking.value).to be_nil.or(match([IOError, anything]))
          connecting.join
          break
        end
      end

      it "is ended by the Thrift::Socket's close" do
        caught = (1..20).any? do
          server, client = ends(slow_context)
          connecting = Thread.new { outcome { client.connect } }
          shaking = Thread.new { outcome { ext.handshake(server, 20) } }
          next [shaking, connecting].each(&:join) && false unless caught_unlocked(server, shaking)

          Thrift::Socket.new.tap { |socket| socket.handle = server }.close
          expect(server.to_io).to be_closed
          expect(shaking.value).to be_nil.or(match([IOError, anything]))
          connecting.join
          true
        end
        expect(caught).to be(true)
      end

      it "leaves a child forked in the midst of it with a context that works" do
        skip "no fork" unless Process.respond_to?(:fork)

        server, client = ends(slow_context)
        connecting = Thread.new { client.connect }
        shaking = Thread.new { ext.handshake(server, 20) }
        caught_unlocked(server, shaking)
        pid = fork do
          mine, other = ends(slow_context)
          shake(mine, other)
          exit!(0)
        rescue StandardError
          exit!(1)
        end
        [shaking, connecting].each(&:join)
        expect(Process.wait2(pid)[1]).to be_success
      end

      it "serves many threads with one context" do
        threads = Array.new(8) do
          Thread.new do
            Array.new(3) do
              server, client = ends(slow_context)
              shake(server, client)
              client.write("x")
              thrift(server).read(1)
            end
          end
        end
        expect(threads.map(&:value)).to all(eq(["x"] * 3))
      end

      it "does all of this through SSLSocket's methods, too" do
        result = Child.run(<<~RUBY, env: { "THRIFT_NATIVE_TLS" => "ruby" }, args: [__FILE__], timeout: 120)
          require "rspec/core"
          exit RSpec::Core::Runner.run(["--no-color", "-I", "spec", *ARGV])
        RUBY
        expect(result).to be_success, result.to_s
      end
    end
  end
end
