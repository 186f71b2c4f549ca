# frozen_string_literal: true

require "ipaddr"
require "thrift/native/sessions"
require "thrift/native/socket"

module Thrift
  module Native
    # Whether the installed thrift (0.25 and later) asks for the server's name.
    SENDS_SERVER_NAME = Thrift::SSLSocket.method_defined?(:server_hostname)

    module Impl
      # Methods of Thrift::SSLSocket. The options are those of Thrift::Socket, and +session_reuse+.
      module SSLSocket
        # +server_hostname+ is the name to ask for (SNI, RFC 6066) and to verify. Since thrift 0.25 that's +host+ unless
        # told; before, +host+ is verified and no name is sent.
        def initialize(host = "localhost", port = 9090, timeout = nil, ssl_context = nil,
                       server_hostname: (SENDS_SERVER_NAME ? host : nil), **options)
          # The class's own, whoever changed it since.
          Thrift::Socket.instance_method(:initialize).bind(self).call(host, port, timeout)
          @ssl_context = ssl_context
          @server_hostname = server_hostname
          Options.assign(self, options, Options::TLS) unless options.empty?
        end

        def server_hostname
          @server_hostname if defined?(@server_hostname)
        end

        def server_hostname=(name)
          @server_hostname = name
        end

        # Whether to resume the last TLS session with the same server under the same SSLContext, of whichever
        # Thrift::SSLSocket; false unless set. A resumed handshake is about ten times cheaper for both ends.
        def session_reuse
          Options.of(self).fetch(:session_reuse, false)
        end

        def session_reuse=(on)
          Options.store(self, :session_reuse, Options.boolean(:session_reuse, on))
        end

        # Connects and shakes hands, both within connect_timeout or else timeout, and verifies the server's name.
        # Raises TransportException: ALREADY_OPEN, TIMED_OUT or NOT_OPEN.
        def open
          raise TransportException.new(TransportException::ALREADY_OPEN, "Socket already open") if open?

          deadline = Connecting.deadline(self)
          socket = connect_socket(deadline)
          ssl = nil
          established = false
          begin
            ssl = ClientHandshake.prepare(socket, self)
            @handle = ssl
            ClientHandshake.perform(ssl, deadline, @desc)
            ClientHandshake.verify(ssl, self, @host)
            established = true
            ssl
          rescue TransportException
            raise
          rescue StandardError
            raise TransportException.new(TransportException::NOT_OPEN, "Could not connect to #{@desc}")
          ensure
            unless established
              Connecting.close(ssl || socket)
              @handle = nil
            end
          end
        end

        # Remembers the session, if asked to, and closes.
        def close
          ClientHandshake.remember(@handle, self) if session_reuse && @handle
          Thrift::Socket.instance_method(:close).bind(self).call
        end
      end
    end

    # The client's half of opening a TLS connection.
    module ClientHandshake
      class << self
        # An SSLSocket that owns +socket+.
        def prepare(socket, transport)
          ssl = OpenSSL::SSL::SSLSocket.new(socket, context(transport))
          name = transport.server_hostname
          ssl.hostname = name if sends_name?(name)
          ssl.sync_close = true if ssl.respond_to?(:sync_close=)
          resume(ssl, transport) if transport.session_reuse
          ssl
        end

        def perform(ssl, deadline, description)
          return ssl.connect unless deadline || !Connecting.addrinfo?

          until (result = step(ssl)).equal?(ssl)
            wait(ssl, result, deadline, description)
          end
        end

        def verify(ssl, transport, host)
          name = transport.server_hostname
          ssl.post_connection_check(name.nil? || name.empty? ? host : name)
          remember(ssl, transport) if transport.session_reuse
        end

        def remember(ssl, transport)
          Sessions::CLIENTS.keep(ssl.context, server(transport), ssl) if ssl.respond_to?(:context)
        end

        private

        # Without one of the program's, thrift verifies against the system's certificates since 0.25, and not at all
        # before.
        def context(transport)
          own = transport.respond_to?(:configured_ssl_context, true)
          own ? transport.send(:configured_ssl_context) : transport.ssl_context
        end

        # The call that the installed thrift makes; see Connecting.
        def step(ssl)
          return ssl.connect_nonblock(exception: false) if Connecting.addrinfo?

          begin
            ssl.connect_nonblock
            ssl
          rescue IO::WaitReadable
            :wait_readable
          rescue IO::WaitWritable
            :wait_writable
          end
        end

        def wait(ssl, result, deadline, description)
          unless [:wait_readable, :wait_writable].include?(result)
            reason = "unexpected SSL connect result #{result.inspect}"
            raise TransportException.new(TransportException::NOT_OPEN, "Could not connect to #{description}: #{reason}")
          end
          remaining = deadline - Connecting.now if deadline
          return if (remaining.nil? || remaining > 0) && ssl.to_io.public_send(result, remaining)

          raise TransportException.new(TransportException::TIMED_OUT,
                                       "SSL socket: Timed out establishing session with #{description}")
        end

        def sends_name?(name)
          return false if name.nil? || name.empty?

          IPAddr.new(name)
          false
        rescue IPAddr::InvalidAddressError
          true
        end

        def resume(ssl, transport)
          session = Sessions::CLIENTS[ssl.context, server(transport)]
          ssl.session = session if session
        end

        def server(transport)
          host = transport.instance_variable_get(:@host)
          [host, transport.instance_variable_get(:@port), transport.server_hostname].freeze
        end
      end
    end
  end
end
