# frozen_string_literal: true

require "thrift/native/connecting"

module Thrift
  module Native
    # The server's half of opening TLS connections, and who does it: the worker that accepts, the connection's own
    # thread, or a helper.
    module Handshakes
      # What a client can bring about. Such a connection is closed, and that's all.
      FAILURES = [SystemCallError, IOError].freeze
      private_constant :FAILURES

      class << self
        # An SSLSocket that owns +socket+, not yet shaken hands. Closes the socket if there is none to be made.
        def wrap(socket, context)
          ssl = OpenSSL::SSL::SSLSocket.new(socket, context)
          ssl.sync_close = true
          ssl
        ensure
          Connecting.close(socket) unless ssl
        end

        # Shakes hands within +timeout+ seconds; nil or 0: no limit. Raises OpenSSL::SSL::SSLError, also when time is
        # up, or SystemCallError.
        def perform(ssl, timeout)
          return Ext.handshake(ssl, timeout.to_f) if Native.ext?(:handshake)
          return ssl.accept if timeout.nil? || timeout == 0

          deadline = Connecting.now + timeout
          while (result = ssl.accept_nonblock(exception: false)).is_a?(Symbol)
            remaining = deadline - Connecting.now
            unless remaining > 0 && ssl.to_io.public_send(result, remaining)
              raise OpenSSL::SSL::SSLError, "SSL server socket: Timed out accepting TLS connection"
            end
          end
        end

        # The same for an accepted Thrift::Socket, true or false. What a client can do wrong isn't an error.
        def succeed?(transport, timeout)
          perform(ssl_of(transport), timeout)
          true
        rescue *FAILURES, OpenSSL::SSL::SSLError
          false
        end

        # The SSLSocket of an accepted Thrift::Socket.
        def ssl_of(transport)
          transport.instance_variable_get(:@handle)
        end

        # While the block runs, what +server_transport+ does with TLS handshakes:
        #
        # :defer:: leaves them to others, who take the socket from accept
        # :skip::  closes connections that fail them, and goes on accepting
        def with(mode, server_transport)
          return yield unless ours?(server_transport)

          begin
            server_transport.instance_variable_set(:@handshakes, mode)
            yield
          ensure
            server_transport.instance_variable_set(:@handshakes, nil)
          end
        end

        def mode(server_transport)
          return unless server_transport.instance_variable_defined?(:@handshakes)

          server_transport.instance_variable_get(:@handshakes)
        end

        # Whether the transport accepts by Impl::SSLServerSocket#accept, and nothing around it.
        def ours?(server_transport)
          return false unless server_transport.is_a?(Thrift::SSLServerSocket) && Impl.const_defined?(:SSLServerSocket)

          method = server_transport.method(:accept)
          method.owner == Thrift::SSLServerSocket &&
            method.source_location == Impl::SSLServerSocket.instance_method(:accept).source_location
        end
      end
    end

    # Shakes hands for a server whose threads must not wait. One thread waits for the first bytes of all the silent
    # clients; those who have said something get one of a few threads, since the work may go on without the VM lock.
    class HandshakePool
      WORKERS = 16
      # Seconds, where the server sets no client_timeout: helpers are few, so nobody may keep one for ever.
      LIMIT = 30
      private_constant :WORKERS, :LIMIT

      # The block gets each Thrift::Socket that has shaken hands, in one of the helpers.
      def initialize(timeout, &block)
        @timeout = timeout.nil? || timeout == 0 ? LIMIT : timeout
        @deliver = block
        @fresh = Queue.new
        @ready = Queue.new
        @wake, @waker = IO.pipe
        @workers = []
        @closed = false
        @poller = Thread.new { poll }
      end

      def push(transport)
        @fresh << [transport, Connecting.now + @timeout]
        @waker.write_nonblock(".", exception: false)
      rescue IOError # closed
        transport.close
      end

      # Ends the helpers and closes what they had.
      def close
        return if @closed

        @closed = true
        [@poller, *@workers].each(&:kill).each(&:join)
        [@wake, @waker].each(&:close)
        [@fresh, @ready].each { |queue| drop(queue.pop.first) until queue.empty? }
      end

      private

      def poll
        silent = {}
        loop do
          timeout = silent.empty? ? nil : [silent.each_value.map(&:last).min - Connecting.now, 0].max
          readable, = IO.select([@wake, *silent.keys], nil, nil, timeout)
          (readable || []).each { |io| io.equal?(@wake) ? welcome(silent) : hand_over(silent.delete(io)) }
          expire(silent)
        end
      ensure
        silent.each_value { |transport, _deadline| drop(transport) }
      end

      def welcome(silent)
        @wake.read_nonblock(4096, exception: false)
        until @fresh.empty?
          entry = @fresh.pop
          silent[Handshakes.ssl_of(entry.first).to_io] = entry
        end
      end

      def hand_over(entry)
        @ready << entry
        return if @ready.num_waiting >= @ready.size || @workers.size >= WORKERS

        @workers << Thread.new { work }
      end

      def expire(silent)
        now = Connecting.now
        silent.delete_if { |_io, (transport, deadline)| deadline <= now && (drop(transport) || true) }
      end

      def work
        loop do
          transport, deadline = @ready.pop
          shake_hands(transport, [deadline - Connecting.now, 0.001].max)
        end
      end

      def shake_hands(transport, timeout)
        delivered = false
        return unless Handshakes.succeed?(transport, timeout)

        @deliver.call(transport)
        delivered = true
      rescue IOError # the server has just shut down
        nil
      ensure
        drop(transport) unless delivered
      end

      def drop(transport)
        transport.close
      rescue StandardError
        nil
      end
    end
  end
end
