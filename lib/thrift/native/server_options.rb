# frozen_string_literal: true

require "thrift/native/options"

module Thrift
  module Native
    module Impl
      # Options that the TCP and the UNIX server transport have in common. Those of a connection apply to every socket
      # accepted from now on.
      module ServerOptions
        # Seconds; the +timeout+ of accepted sockets, and how long a TLS handshake may take.
        def client_timeout
          @client_timeout if defined?(@client_timeout)
        end

        def client_timeout=(seconds)
          @client_timeout = Options.seconds_or_nil(:client_timeout, seconds)
        end

        # See Thrift::Socket#linger. Off unless set: a server never closes by reset.
        def linger(on, seconds = 0)
          Options.store(self, :linger, Options.linger(on, seconds).freeze)
          nil
        end

        def send_buffer
          Options.of(self)[:send_buffer]
        end

        def send_buffer=(bytes)
          Options.store(self, :send_buffer, Options.bytes(:send_buffer, bytes))
        end

        # Set before #listen if it's to be more than 64 KiB: the window's scale is fixed in the handshake (tcp(7)).
        def receive_buffer
          Options.of(self)[:receive_buffer]
        end

        def receive_buffer=(bytes)
          Options.store(self, :receive_buffer, Options.bytes(:receive_buffer, bytes))
        end

        def read_timeout
          Options.of(self)[:read_timeout]
        end

        def read_timeout=(seconds)
          Options.store(self, :read_timeout, Options.seconds_or_nil(:read_timeout, seconds))
        end

        def write_timeout
          Options.of(self)[:write_timeout]
        end

        def write_timeout=(seconds)
          Options.store(self, :write_timeout, Options.seconds_or_nil(:write_timeout, seconds))
        end

        # How many connections may wait to be accepted, as listen(2) takes it; the system's maximum unless set.
        def backlog
          Options.of(self).fetch(:backlog, ::Socket::SOMAXCONN)
        end

        def backlog=(connections)
          Options.store(self, :backlog, Options.backlog(connections))
          io = Options.stream(@handle)
          io.listen(connections) if io
        end

        private

        # Whether somebody else opened the listening socket.
        def adopted?
          defined?(@adopted) && @adopted ? true : false
        end
      end
    end
  end
end
