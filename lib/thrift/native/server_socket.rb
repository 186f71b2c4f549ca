# frozen_string_literal: true

require "thrift/native/accepting"
require "thrift/native/adopting"
require "thrift/native/connecting"
require "thrift/native/server_options"

module Thrift
  module Native
    # What ServerSocket.new, SSLServerSocket.new and UNIXServerSocket.new take for +client_timeout+ unless told: what
    # the installed thrift takes, which is nothing before 0.24.
    CLIENT_TIMEOUT =
      if Thrift::BaseServerTransport.const_defined?(:DEFAULT_CLIENT_TIMEOUT)
        Thrift::BaseServerTransport::DEFAULT_CLIENT_TIMEOUT
      end

    module Impl
      # Methods of Thrift::ServerSocket: listening and accepting, and the options.
      #
      # nodelay, linger, keepalive, user_timeout, send_buffer, receive_buffer, read_timeout and write_timeout mean what
      # they mean for Thrift::Socket, and apply to every socket accepted from now on. Nonsense raises an ArgumentError
      # that names the option.
      module ServerSocket
        include ServerOptions

        # call-seq:
        #   initialize(host = nil, port, client_timeout: 5, **options)
        #   initialize(handle: listening_socket, **options)
        #
        # +port+ 0 lets the system choose; #port tells what it chose. +client_timeout+ is in seconds and becomes the
        # +timeout+ of accepted sockets; nil or 0 is none. It is 5 since thrift 0.24, nil before.
        # +handle+ is a listening socket, or its descriptor's number, that somebody else opened; see .from_fd.
        def initialize(host_or_port = nil, port = nil, client_timeout: CLIENT_TIMEOUT, handle: nil, **options)
          if port
            @host = host_or_port
            @port = port
          else
            @host = nil
            @port = host_or_port
          end
          @client_timeout = Options.seconds_or_nil(:client_timeout, client_timeout)
          @handle = nil
          if handle
            @adopted = Adopting.claim(handle, ::TCPServer)
          elsif @port.nil?
            raise ArgumentError, "wrong number of arguments (given 0, expected 1..2, or handle:)"
          end
          Options.assign(self, options, Options::SERVER) unless options.empty?
        end

        # Raises SystemCallError or SocketError.
        def listen
          server = listening_socket
          @handle = server
          Listener.watch(self, server, !adopted?)
          server
        end

        # Waits for a connection: a Thrift::Socket, or nil if nobody listens. Raises IOError when another thread closes
        # the listener.
        def accept
          handle = @handle
          return if handle.nil?

          listener = Listener.of(self, handle)
          return Accepting.stock(self, __stock_accept) unless listener

          Accepting.wrap(self, Thrift::Socket, listener.accept(Options.of(self)))
        end

        # For IO.select. Raises IOError if nobody listens.
        def to_io
          (@handle && @handle.to_io) || raise(IOError, "closed stream")
        end

        # The port in use when listening, else the one that was asked for.
        def port
          io = Options.stream(@handle)
          io ? io.local_address.ip_port : @port
        end

        def nodelay
          Options.of(self).fetch(:nodelay, true)
        end

        def nodelay=(on)
          Options.store(self, :nodelay, Options.boolean(:nodelay, on))
          @listener.configure(Options.of(self)) if defined?(@listener) && @listener && !closed?
        end

        def keepalive
          Options.of(self)[:keepalive]
        end

        def keepalive=(value)
          Options.store(self, :keepalive, Options.keepalive_value(value))
        end

        def user_timeout
          Options.of(self)[:user_timeout]
        end

        def user_timeout=(seconds)
          Options.store(self, :user_timeout, Options.user_timeout(seconds))
        end

        # Whether several processes may listen on this port, each with its own queue (SO_REUSEPORT, socket(7)). Set it
        # before #listen.
        def reuse_port
          Options.of(self).fetch(:reuse_port, false)
        end

        def reuse_port=(on)
          Options.boolean(:reuse_port, on)
          unless ::Socket.const_defined?(:SO_REUSEPORT)
            raise ArgumentError, "reuse_port: this system has no SO_REUSEPORT"
          end

          Options.store(self, :reuse_port, on)
        end

        private

        # The calls of the stock class as long as no option needs others.
        def listening_socket
          return @adopted if adopted? && !@adopted.closed?
          raise IOError, "the adopted listener was closed" if adopted?

          options = Options.of(self)
          return Accepting.bind(@host, @port, options) if options[:reuse_port] || Options.buffers?(options)

          server = ::TCPServer.new(@host, @port)
          server.listen(options[:backlog]) if options[:backlog]
          server
        end

        # Singleton methods of the class.
        module ClassMethods
          # A server transport for a listening socket that somebody else opened: a descriptor's number, or a Ruby
          # socket, which it then owns. Raises ArgumentError if it isn't one.
          #
          #   Thrift::ServerSocket.from_fd(3, client_timeout: 10)
          def from_fd(handle, **options)
            new(handle: handle, **options)
          end

          # Server transports for what systemd passes in LISTEN_FDS and LISTEN_PID (sd_listen_fds(3)), in its order:
          # of this class for TCP, Thrift::UNIXServerSocket for UNIX sockets. Empty if nothing was passed to this
          # process. Clears those environment variables, as children must not see them, unless
          # <tt>unset_environment: false</tt>. +name+ picks those of one FileDescriptorName (LISTEN_FDNAMES).
          # +options+ are those of the constructor.
          def listen_fds(name: nil, unset_environment: true, **options)
            chosen = Adopting.descriptors(!unset_environment).select { |_fd, fd_name| name.nil? || fd_name == name }
            chosen.map do |fd, _fd_name|
              (Adopting.unix?(fd) ? Thrift::UNIXServerSocket : self).new(handle: fd, **options)
            end
          end
        end
      end
    end
  end
end
