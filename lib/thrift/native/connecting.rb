# frozen_string_literal: true

require "thrift/native/options"

module Thrift
  module Native
    # Opening TCP connections: every address of a name in turn, under one deadline.
    #
    # Names are looked up, and addresses connected to, through the calls that the installed thrift makes
    # (Addrinfo since 0.24, ::Socket.getaddrinfo before), since programs and proxies patch those.
    module Connecting
      class << self
        # Whether the installed thrift is one that uses Addrinfo: its class has this method then.
        def addrinfo?
          Thrift::Socket.private_method_defined?(:__stock_connect_socket)
        end

        def now
          Process.clock_gettime(Process::CLOCK_MONOTONIC)
        end

        # When opening must be done, on the monotonic clock; nil for never.
        def deadline(transport)
          seconds = transport.connect_timeout || transport.timeout
          now + seconds unless seconds.nil? || seconds == 0
        end

        # The first socket that connects. Raises TransportException: TIMED_OUT if time is up or the last address timed
        # out, else NOT_OPEN, with what happened as its cause.
        def connect(host, port, description, deadline, options)
          last_error = nil
          each_address(host, port) do |address|
            remaining = remaining(deadline, description)
            begin
              return attempt(address, remaining, options)
            rescue StandardError => e
              last_error = e
            end
          end

          timed_out(description) if last_error.is_a?(Errno::ETIMEDOUT) || (deadline && deadline - now <= 0)
          raise not_open(description), cause: last_error
        rescue TransportException
          raise
        rescue StandardError
          raise not_open(description)
        end

        # Waits for nobody, raises nothing.
        def close(socket)
          socket.close unless socket.nil? || (socket.respond_to?(:closed?) && socket.closed?)
        rescue StandardError
          nil
        end

        private

        def each_address(host, port, &block)
          return Addrinfo.foreach(host, port, nil, :STREAM, &block) if addrinfo?

          ::Socket.getaddrinfo(host, port, nil, ::Socket::SOCK_STREAM).each(&block)
        end

        def remaining(deadline, description)
          return unless deadline

          remaining = deadline - now
          timed_out(description) if remaining <= 0
          remaining
        end

        # `ensure`, not `rescue`: Timeout and Thread#kill leave no descriptor behind, either.
        def attempt(address, remaining, options)
          socket = nil
          connected = nil
          if address.is_a?(Array)
            socket = ::Socket.new(address[4], ::Socket::SOCK_STREAM, 0)
            Options.buffers(socket, options)
            connect_within(socket, ::Socket.sockaddr_in(address[1], address[3]), remaining)
          elsif Options.buffers?(options)
            socket = ::Socket.new(address.pfamily, address.socktype, address.protocol)
            Options.buffers(socket, options)
            connect_within(socket, address.to_sockaddr, remaining)
          else
            socket = remaining ? address.connect(timeout: remaining) : address.connect
          end
          configure(socket, options)
          connected = socket
        ensure
          close(socket) unless connected
        end

        def connect_within(socket, sockaddr, remaining)
          socket.connect_nonblock(sockaddr)
        rescue Errno::EINPROGRESS
          raise Errno::ETIMEDOUT unless socket.wait_writable(remaining)

          begin
            socket.connect_nonblock(sockaddr)
          rescue Errno::EISCONN
            nil
          end
        end

        def configure(socket, options)
          return Options.nodelay(socket, true) if options.empty?

          Options.nodelay(socket, true) unless options.key?(:nodelay)
          Options.apply(socket, options)
        end

        def timed_out(description)
          raise TransportException.new(TransportException::TIMED_OUT,
                                       "Socket: Timed out opening connection to #{description}")
        end

        def not_open(description)
          TransportException.new(TransportException::NOT_OPEN, "Could not connect to #{description}")
        end
      end
    end
  end
end
