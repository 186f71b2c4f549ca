# frozen_string_literal: true

require "thrift/native/handshakes"

module Thrift
  module Native
    module Impl
      # Who shakes hands with TLS clients in the servers. Without TLS all of them are as they were.
      #
      # Here: the thread that accepts, which serves one client at a time anyway. A client that fails doesn't end the
      # server, as in thrift 0.23 and later.
      module SimpleServer
        def serve
          Handshakes.with(:skip, @server_transport) { __stock_serve }
        end
      end

      # See SimpleServer. Here: the workers, each of which accepts for itself.
      module ThreadPoolServer
        def serve
          Handshakes.with(:skip, @server_transport) { __stock_serve }
        end
      end

      # See SimpleServer. Here: the thread of the connection, so that the accepting one waits for nobody.
      module ThreadedServer
        def serve
          return __stock_serve unless Handshakes.ours?(@server_transport)

          Handshakes.with(:defer, @server_transport) do
            @server_transport.listen
            while (client = @server_transport.accept)
              serve_tls_client(client)
            end
          ensure
            @server_transport.close
          end
        end

        private

        def serve_tls_client(client)
          started = nil
          transport = @transport_factory.get_transport(client)
          protocol = @protocol_factory.get_protocol(transport)
          timeout = @server_transport.client_timeout
          started = Thread.new do
            next unless Handshakes.succeed?(client, timeout)

            loop { @processor.process(protocol, protocol) }
          rescue Thrift::TransportException, Thrift::ProtocolException
            nil # the client has left, or sent what can't be read
          ensure
            transport.close
          end
        ensure
          client.close unless started
        end
      end

      # See SimpleServer. Here: helpers, so that neither the accepting thread nor the one that reads waits for anybody.
      module NonblockingServer
        def serve
          Handshakes.with(:defer, @server_transport) { __stock_serve }
        end

        private

        def start_io_manager
          manager = __stock_start_io_manager
          return manager unless Handshakes.mode(@server_transport) == :defer

          manager.extend(HandshakesFirst)
          manager.shake_hands_within(@server_transport.client_timeout)
          manager
        end
      end
    end

    # Put in front of NonblockingServer's IOManager for TLS: it gets connections that have shaken hands.
    module HandshakesFirst
      def shake_hands_within(timeout)
        @handshake_pool = HandshakePool.new(timeout) { |socket| signal([:connection, socket]) }
      end

      def add_connection(socket)
        @handshake_pool.push(socket)
      end

      def shutdown(*arguments)
        @handshake_pool.close
        super
      end

      def ensure_closed
        @handshake_pool.close
        super
      end
    end
  end
end
