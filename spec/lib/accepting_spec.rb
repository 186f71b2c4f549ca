# frozen_string_literal: true

require "socket"
require "timeout"
require_relative "../support/child"
require_relative "../support/scheduler"
require_relative "../support/servers"
require_relative "../support/strace"

RSpec.describe Thrift::Native::Listener do
  let(:server) { Thrift::ServerSocket.new("127.0.0.1", 0) }

  after { server.close }

  def connect(port = server.port)
    TCPSocket.new("127.0.0.1", port)
  end

  # A thread that waits in accept.
  def accepting(transport = server)
    thread = Thread.new do
      Thread.current.report_on_exception = false
      transport.accept
    end
    sleep(0.001) until thread.stop?
    thread
  end

  it "wakes one of 20 idle workers, with one accept4 a connection" do
    skip "no strace" unless Strace.available?
    Servers.spawn(native: true, workers: 20) do |remote|
      lines = Strace.lines(remote.pid, calls: "accept4,poll,ppoll") do
        10.times { remote.client { |client| client.echo(Fixtures.small) } }
      end
      results = lines.map { |line| line[/accept4.* = (-?\d+)/, 1] }.compact.map(&:to_i)
      expect(results.count { |result| result >= 0 }).to eq(10)
      expect(results.count(&:negative?)).to eq(0)
      # What isn't tried: waiting for the listener, which is the lowest of the sockets.
      fd = lines.map { |line| line[/accept4\((\d+)/, 1] }.compact.first
      expect(lines.grep(/poll\(\[\{fd=#{fd},/)).to eq([])
    end
  end

  it "ends when another thread closes the listener" do
    server.listen
    threads = Array.new(3) { accepting }
    server.close
    threads.each { |thread| expect { thread.value }.to raise_error(IOError, "stream closed in another thread") }
    expect(server.accept).to be_nil
  end

  it "ends with Thread#kill, Thread#raise and Timeout, and goes on afterwards" do
    server.listen
    killed = accepting
    killed.kill
    expect(killed.join(5)).to equal(killed)
    raised = accepting
    raised.raise(ArgumentError, "enough")
    expect { raised.value }.to raise_error(ArgumentError, "enough")
    expect { Timeout.timeout(0.05) { server.accept } }.to raise_error(Timeout::Error)
    client = connect
    expect(server.accept).to be_open
    client.close
  end

  it "can be closed by a signal handler" do
    code = <<~RUBY
      #{Servers.preamble(true)}
      server = Thrift::ServerSocket.new("127.0.0.1", 0)
      server.listen
      trap(:TERM) { server.close }
      thread = Thread.new { Thread.current.report_on_exception = false; server.accept }
      sleep 0.001 until thread.stop?
      puts "ready"; $stdout.flush
      begin; thread.value; rescue IOError => e; puts e.class; end
    RUBY
    Child.start(code) do |child|
      child.gets
      child.kill(:TERM)
      expect(child.gets).to eq("IOError\n")
    end
  end

  it "shares a listener with forked children, whose mode they leave alone" do
    skip "no fork" unless Process.respond_to?(:fork)
    server.listen
    expect(server.handle).not_to be_nonblock
    pid = fork do
      accepted = Array.new(2) { accepting }.map(&:value)
      accepted.each { |socket| socket.write("child") }
      exit!(server.handle.nonblock? ? 1 : 0)
    end
    clients = Array.new(2) { connect }
    expect(clients.map { |client| client.read(5) }).to eq(%w[child child])
    expect(Process.wait2(pid)[1]).to be_success
    client = connect
    expect(accepting.value).to be_open
    [client, *clients].each(&:close)
  end

  it "lets one worker at a time wait for a listener that isn't ours" do
    skip "no strace" unless Strace.available?
    code = <<~RUBY
      #{Servers.preamble(true)}
      listener = TCPServer.new("127.0.0.1", 0)
      server = Thrift::ServerSocket.new(handle: listener)
      server.listen
      threads = Array.new(20) { Thread.new { loop { server.accept.close } } }
      sleep 0.001 until threads.all?(&:stop?)
      $stdout.sync = true
      puts server.port, listener.fileno
      $stdin.gets
    RUBY
    Child.start(code) do |child|
      port = child.gets.to_i
      fd = child.gets.to_i
      lines = Strace.lines(child.pid, calls: "accept4,poll,ppoll") { 10.times { connect(port).tap(&:read).close } }
      results = lines.map { |line| line[/accept4.* = (-?\d+)/, 1] }.compact.map(&:to_i)
      expect([results.count { |result| result >= 0 }, results.count(&:negative?)]).to eq([10, 0])
      expect(lines.grep(/poll\(\[\{fd=#{fd},/).size).to be <= 11
    end
  end

  it "is closed under workers that wait for their turn" do
    adopted = Thrift::ServerSocket.new(handle: TCPServer.new("127.0.0.1", 0))
    adopted.listen
    threads = Array.new(3) { accepting(adopted) }
    adopted.close
    threads.each { |thread| expect { thread.value }.to raise_error(IOError, "stream closed in another thread") }
  end

  context "with a fiber scheduler" do
    before { skip "no fiber schedulers" unless Fiber.respond_to?(:set_scheduler) }

    # A fiber that accepts, one that only then connects.
    def accept_in_fibers(transport)
      order = []
      Scheduler.run do
        Fiber.schedule { order << transport.accept.class }
        Fiber.schedule do
          order << :connecting
          connect(transport.port).close
        end
      end
      order
    end

    it "lets other fibers run, whoever made the listener" do
      server.listen
      expect(accept_in_fibers(server)).to eq([:connecting, Thrift::Socket])
      [true, false].each do |mode|
        listener = TCPServer.new("127.0.0.1", 0)
        listener.nonblock = mode
        adopted = Thrift::ServerSocket.new(handle: listener)
        adopted.listen
        expect(accept_in_fibers(adopted)).to eq([:connecting, Thrift::Socket])
        expect(listener.nonblock?).to eq(mode)
        adopted.close
      end
    end

    it "listens under one" do
      Scheduler.run { server.listen }
      expect(accept_in_fibers(server)).to eq([:connecting, Thrift::Socket])
    end
  end

  context "when descriptors run out" do
    # In a child: the limit is the whole process's.
    setup = <<~RUBY
      #{Servers.preamble(true)}
      $stdout.sync = true
      def limit(number)
        Process.setrlimit(:NOFILE, number, Process.getrlimit(:NOFILE)[1])
      end
      # Not one more descriptor, until the limit is raised.
      def exhaust
        limit(64)
        @fillers ||= []
        loop { @fillers << File.open(File::NULL) }
      rescue Errno::EMFILE
        nil
      end
      def count
        Dir.children("/proc/self/fd").size
      end
      messages = Thread::Queue.new
      logger = Object.new
      logger.define_singleton_method(:warn) { |text| messages << text }
      Thrift::Native.logger = logger
      server = Thrift::ServerSocket.new("127.0.0.1", 0)
      server.listen
      attempts = 0
      server.handle.singleton_class.prepend(Module.new { define_method(:accept) { attempts += 1; super() } })
      puts server.port
      # accept4 takes its descriptor before it waits, so the limit comes first.
      exhaust
    RUBY

    it "waits and tries again, says so once an episode, and leaks nothing" do
      code = <<~RUBY
        #{setup}
        2.times do
          attempts = 0
          exhaust
          thread = Thread.new { server.accept }
          puts messages.pop
          $stdin.gets
          puts attempts
          limit(1000)
          before = count
          accepted = thread.value
          accepted.close
          puts accepted.class, messages.size, count - before
        end
      RUBY
      Child.start(code) do |child|
        port = child.gets.to_i
        2.times do
          expect(child.gets).to match(/accept: Too many open files/)
          client = connect(port)
          # Long enough for many, if it did not wait longer each time.
          sleep(0.4)
          child.puts
          expect(child.gets.to_i).to be_between(1, 8)
          expect(Array.new(3) { child.gets.chomp }).to eq(["Thrift::Socket", "0", "0"])
          client.close
        end
      end
    end

    it "ends when it's closed, killed or timed out meanwhile" do
      code = <<~RUBY
        #{setup}
        require "timeout"
        threads = Array.new(2) { Thread.new { Thread.current.report_on_exception = false; server.accept } }
        messages.pop
        threads[0].kill
        puts threads[0].join(5) ? "killed" : "hangs"
        begin; Timeout.timeout(0.05) { server.accept }; rescue Timeout::Error; puts "timed out"; end
        server.close
        begin; threads[1].value; rescue IOError => e; puts e.message; end
      RUBY
      Child.start(code) do |child|
        child.gets
        expect(Array.new(3) { child.gets.chomp }).to eq(["killed", "timed out", "stream closed in another thread"])
      end
    end
  end

  it "tries again when a connection was lost in the queue" do
    server.listen
    failures = [Errno::ECONNABORTED, Errno::EPROTO]
    allow(server.handle).to receive(:accept).and_wrap_original do |original|
      (error = failures.shift) ? raise(error) : original.call
    end
    said = []
    Thrift::Native.logger = double(warn: nil).tap { |logger| allow(logger).to receive(:warn) { |text| said << text } }
    client = connect
    expect(server.accept).to be_open
    expect(said.size).to eq(1)
    client.close
  ensure
    Thrift::Native.logger = nil
  end

  it "logs to stderr unless told" do
    result = Child.run("#{Servers.preamble(true)}\nThrift::Native.logger.warn('oh')")
    expect(result.err).to match(/thrift_native: oh/)
  end

  it "passes other errors on" do
    server.listen
    allow(server.handle).to receive(:accept).and_raise(Errno::ENOTSOCK)
    expect { server.accept }.to raise_error(Errno::ENOTSOCK)
  end
end
