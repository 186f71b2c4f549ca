# frozen_string_literal: true

require "io/wait"
require "thrift/native/connecting"
require "thrift/native/logging"
require "thrift/native/options"

begin
  require "io/nonblock"
rescue LoadError
  nil # Windows: nothing to clear there
end

module Thrift
  module Native
    # Taking connections from a listening socket.
    #
    # Ruby's listening sockets are O_NONBLOCK: every idle worker polls, and each connection wakes them all. On a
    # blocking one the kernel wakes one worker with one accept4. But O_NONBLOCK belongs to the open file, which forked
    # children and supervisors share, and a blocking accept stops the fibers of a thread. So there are two ways:
    #
    # blocking:: many workers wait in accept(2); on a listener that this very process made, without a fiber scheduler
    # in turn::  one worker at a time waits, in a way that schedulers know; everywhere else
    class Listener
      # accept(2): for want of these the connection stays in the queue, and accept fails at once again.
      STARVED = [:EMFILE, :ENFILE, :ENOBUFS, :ENOMEM].freeze
      # accept(2): errors of the connection that was to be taken. "Treat them like EAGAIN by retrying."
      LOST = [:ECONNABORTED, :EPROTO, :ENETDOWN, :ENOPROTOOPT, :EHOSTDOWN, :ENONET, :EHOSTUNREACH, :ENETUNREACH,
              :EPERM].freeze
      # Not every system has them all.
      PASSING = (STARVED + LOST).map { |name| Errno.const_get(name) if Errno.const_defined?(name) }.compact.freeze
      FIRST_PAUSE = 0.01
      LONGEST_PAUSE = 1.0
      LONGEST_NAP = 0.1
      CLOSED = "stream closed in another thread"
      private_constant :STARVED, :LOST, :PASSING, :FIRST_PAUSE, :LONGEST_PAUSE, :LONGEST_NAP, :CLOSED

      class << self
        # The Listener of a server transport's handle; nil if that's not exactly a listening socket of Ruby's. One is
        # made if #listen of this transport was called before we came, or if the program assigned the handle.
        def of(transport, handle)
          known(transport, handle) || CREATION.synchronize do
            known(transport, handle) || watch(transport, handle, false)
          end
        end

        # Makes the Listener of a handle. +ours+: made by this process, and shared with nobody so far.
        def watch(transport, handle, ours, context = nil)
          io = handle
          if defined?(OpenSSL::SSL::SSLServer) && handle.instance_of?(OpenSSL::SSL::SSLServer)
            io = handle.to_io
            context ||= handle.instance_variable_get(:@ctx)
          end
          known = io.instance_of?(::TCPServer) || io.instance_of?(::UNIXServer)
          listener = (new(handle, io, ours, context, Options.of(transport)) if known)
          transport.instance_variable_set(:@listener, listener)
        end

        # Whether the calling fiber belongs to a scheduler.
        def scheduler?
          false
        end

        if Fiber.respond_to?(:current_scheduler)
          remove_method :scheduler?
          def scheduler?
            !Fiber.current_scheduler.nil?
          end
        elsif Fiber.respond_to?(:scheduler)
          remove_method :scheduler?
          def scheduler?
            !Fiber.scheduler.nil?
          end
        end

        private

        def known(transport, handle)
          return unless transport.instance_variable_defined?(:@listener)

          listener = transport.instance_variable_get(:@listener)
          listener if listener && listener.handle.equal?(handle)
        end
      end
      CREATION = Mutex.new
      private_constant :CREATION

      # What the server transport has in @handle, and for TLS the SSLContext that it listens with.
      attr_reader :handle, :context

      def initialize(handle, io, ours, context, options)
        @handle = handle
        @io = io
        @context = context
        @tcp = io.is_a?(::TCPServer)
        @ours = ours
        @pid = Process.pid
        @turn = Mutex.new
        @inherited = nil
        @blocking = ours && blocking_now?
        configure(options)
      end

      # Takes one connection: a TCPSocket or UNIXSocket with +options+ set. Out of descriptors or memory, and when a
      # connection was lost in the queue, it waits (10 ms, then twice as long up to 1 s) and tries again. Raises
      # IOError when the listener is closed, as Ruby's accept does.
      def accept(options)
        pause = nil
        begin
          socket = take
        rescue *PASSING => e
          report(e)
          pause = pause ? [pause * 2, LONGEST_PAUSE].min : FIRST_PAUSE
          rest(pause)
          retry
        end
        @reported = nil
        prepare(socket, options)
      end

      # Options that accepted sockets inherit are set on the listener, once.
      def configure(options)
        return unless @tcp && @ours

        Options.nodelay(@io, options.fetch(:nodelay, true))
        Options.kernel_linger(@io, false, 0)
        @inherited = nil
      end

      private

      def blocking_now?
        return false if self.class.scheduler? || RUBY_ENGINE != "ruby" || !@io.respond_to?(:nonblock=)

        @io.nonblock = false
        true
      end

      def take
        if @blocking && @pid == Process.pid
          return @io.accept unless self.class.scheduler?

          # Ours, so it may be turned back. Threads that are waiting in accept(2) stay there.
          @io.nonblock = true
          @blocking = false
        end
        take_in_turn
      end

      # Plain accept, since accept_nonblock would set O_NONBLOCK. Another process may have been faster; then accept
      # waits once more, in this thread alone.
      def take_in_turn
        @turn.synchronize do
          raise IOError, CLOSED if @io.closed?

          @io.wait_readable
          next @io.accept unless self.class.scheduler? && @io.respond_to?(:nonblock?) && !@io.nonblock?

          accept_beside
        end
      end

      # A scheduler must not be stopped, and the listener's mode isn't ours to change: wait in another thread.
      def accept_beside
        thread = Thread.new { @io.accept }
        thread.report_on_exception = false
        thread.value
      ensure
        thread.kill if thread
      end

      def prepare(socket, options)
        ready = nil
        prepare_tcp(socket, options) if @tcp
        Options.apply(socket, options) unless options.empty?
        ready = socket
      ensure
        close(socket) unless ready
      end

      def prepare_tcp(socket, options)
        nodelay = options.fetch(:nodelay, true)
        @inherited = @ours && inherits?(socket, nodelay) if @inherited.nil?
        return if @inherited

        Options.nodelay(socket, nodelay)
        Options.kernel_linger(socket, false, 0)
      rescue Errno::EINVAL
        nil # macOS, of a connection that the peer has reset
      end

      def inherits?(socket, nodelay)
        socket.getsockopt(::Socket::IPPROTO_TCP, ::Socket::TCP_NODELAY).bool == nodelay &&
          !socket.getsockopt(::Socket::SOL_SOCKET, ::Socket::SO_LINGER).linger[0]
      end

      def close(socket)
        socket.close
      rescue StandardError
        nil
      end

      # Once an episode: it ends with the next connection that is taken.
      def report(error)
        return if @reported

        @reported = true
        Native.logger.warn("accept: #{error.message}; trying again until it works")
      end

      # In slices: close may be called by a signal handler, which can take no lock to wake anybody.
      def rest(seconds)
        resume = Connecting.now + seconds
        while (remaining = resume - Connecting.now) > 0
          sleep([remaining, LONGEST_NAP].min)
          raise IOError, CLOSED if @io.closed?
        end
      end
    end

    # What the server transports have in common.
    module Accepting
      class << self
        # Makes +transport+, a new Thrift::Socket, the owner of an accepted +handle+. Closes that if it can't.
        def wrap(server, transport_class, handle, *arguments)
          owner = nil
          transport = transport_class.new(*arguments)
          transport.timeout = server.client_timeout
          transport.handle = handle
          options = Options.of(server)
          bestow(transport, options) unless options.empty?
          owner = transport
        ensure
          Connecting.close(handle) unless owner
        end

        # An odd handle (a double, a subclass) was accepted from by the stock method, which sets no nodelay before
        # thrift 0.23.
        def stock(server, transport)
          return transport unless transport.is_a?(Thrift::Socket)

          options = Options.of(server)
          io = Options.stream(transport.instance_variable_get(:@handle))
          Options.nodelay(io, options.fetch(:nodelay, true)) if io && Options.tcp?(io)
          bestow(transport, options) unless options.empty?
          transport
        end

        # A TCP listener with options that must be set before bind(2) or listen(2).
        def bind(host, port, options)
          last_error = nil
          Addrinfo.foreach(host, port, nil, :STREAM, nil, ::Socket::AI_PASSIVE) do |address|
            return bind_address(address, options)
          rescue SystemCallError => e
            last_error = e
          end
          raise last_error
        end

        private

        def bestow(transport, options)
          transport.instance_variable_set(:@native_options, options)
          on, seconds = options[:linger]
          transport.linger(on, seconds) if options[:linger]
          transport.read_timeout = options[:read_timeout] if options[:read_timeout]
          transport.write_timeout = options[:write_timeout] if options[:write_timeout]
        end

        def bind_address(address, options)
          socket = ::Socket.new(address.pfamily, address.socktype, address.protocol)
          socket.setsockopt(::Socket::SOL_SOCKET, ::Socket::SO_REUSEADDR, 1) unless Gem.win_platform?
          socket.setsockopt(::Socket::SOL_SOCKET, ::Socket::SO_REUSEPORT, 1) if options[:reuse_port]
          Options.buffers(socket, options)
          socket.bind(address)
          socket.listen(options[:backlog] || ::Socket::SOMAXCONN)
          server = ::TCPServer.for_fd(socket.fileno)
          socket.autoclose = false
          server
        ensure
          socket.close if socket && !server
        end
      end
    end
  end
end
