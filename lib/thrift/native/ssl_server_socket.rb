# frozen_string_literal: true

require "thrift/native/handshakes"
require "thrift/native/server_socket"

module Thrift
  module Native
    module Impl
      # Methods of Thrift::SSLServerSocket. The options are those of Thrift::ServerSocket.
      module SSLServerSocket
        # call-seq:
        #   initialize(host = nil, port, ssl_context, client_timeout: 5, **options)
        #   initialize(handle: listening_socket, ssl_context: context, **options)
        def initialize(host_or_port = nil, port = nil, positional_context = nil, ssl_context: positional_context,
                       **options)
          # The class's own, whoever changed it since.
          Thrift::ServerSocket.instance_method(:initialize).bind(self).call(host_or_port, port, **options)
          @ssl_context = ssl_context
        end

        # Raises SystemCallError, SocketError, OpenSSL::SSL::SSLError.
        def listen
          tcp_server = listening_socket
          begin
            server = OpenSSL::SSL::SSLServer.new(tcp_server, @ssl_context)
            # Handshakes are ours to do: after nodelay, and where nobody else waits for them.
            server.start_immediately = false if server.respond_to?(:start_immediately=)
          ensure
            Connecting.close(tcp_server) unless server || adopted?
          end
          @handle = server
          Listener.watch(self, server, !adopted?, @ssl_context)
          server
        end

        # Waits for a connection and shakes hands with it within client_timeout seconds: a Thrift::Socket, or nil if
        # nobody listens. Raises OpenSSL::SSL::SSLError or SystemCallError if that fails, and IOError when another
        # thread closes the listener.
        def accept
          handle = @handle
          return if handle.nil?

          listener = Listener.of(self, handle)
          return Accepting.stock(self, __stock_accept) unless listener && listener.context

          options = Options.of(self)
          begin
            ssl = Handshakes.wrap(listener.accept(options), listener.context)
            accept_tls(ssl)
          rescue OpenSSL::SSL::SSLError, Errno::ECONNRESET, Errno::EPIPE
            raise unless ssl && Handshakes.mode(self) == :skip

            ssl = nil
            retry
          end
        end

        private

        # `ensure`, not `rescue`: Timeout and Thread#kill leave no descriptor behind, either.
        def accept_tls(ssl)
          accepted = nil
          if Handshakes.mode(self) == :defer
            Ext.handshake_later(ssl, client_timeout.to_f) if Native.ext?(:handshake_later)
          else
            Handshakes.perform(ssl, client_timeout)
          end
          accepted = Accepting.wrap(self, Thrift::Socket, ssl)
        ensure
          Connecting.close(ssl) unless accepted
        end
      end
    end
  end
end
