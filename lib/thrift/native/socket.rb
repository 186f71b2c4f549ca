# frozen_string_literal: true

require "thrift/native/connecting"

module Thrift
  module Native # :nodoc:
    module Impl
      # Methods of Thrift::Socket: opening, and the options.
      #
      # Every option is a keyword argument of the constructor and a method; set on an open socket it acts at once,
      # else when the socket opens. nil, or never set, is the default. Nonsense raises an ArgumentError that names the
      # option.
      module Socket
        # +timeout+ is in seconds, for each read, each write and for opening; nil or 0 waits for ever.
        def initialize(host = "localhost", port = 9090, timeout = nil, **options)
          @host = host
          @port = port
          @timeout = timeout
          @desc = "#{host}:#{port}"
          @handle = nil
          Options.assign(self, options, Options::TCP) unless options.empty?
        end

        # Connects to the first address of the host that answers, within connect_timeout or else timeout.
        # Raises TransportException: ALREADY_OPEN, TIMED_OUT or NOT_OPEN.
        def open
          raise TransportException.new(TransportException::ALREADY_OPEN, "Socket already open") if open?

          handle = connect_socket(Connecting.deadline(self))
          Ext.adopt(handle, true) if Native.ext?(:adopt) && handle.instance_of?(::Socket)
          @handle = handle
        end

        # The Ruby socket. Who takes it may read, write and close on its own, so such a connection is never closed by
        # reset.
        def handle
          Ext.expose(@handle) if @handle && Native.ext?(:expose)
          @handle
        end

        # The IO below, for IO.select. Raises IOError if the socket isn't open.
        def to_io
          Ext.expose(@handle) if @handle && Native.ext?(:expose)
          (@handle && @handle.to_io) || raise(IOError, "closed stream")
        end

        # Whether small messages leave at once (TCP_NODELAY, tcp(7)); true unless set.
        def nodelay
          Options.of(self).fetch(:nodelay, true)
        end

        def nodelay=(on)
          Options.set(self, :nodelay, Options.boolean(:nodelay, on))
        end

        # What #close does with a connection:
        #
        # never called, or nil:: by reset where that is provably harmless and the peer is on this host, else as usual
        # false::                as usual
        # true, 0::              by reset where that is provably harmless, to other hosts as well, else as usual
        # true, seconds::        waits up to so many seconds (an Integer) for what is still to be sent (SO_LINGER,
        #                        socket(7))
        #
        # As keyword argument: <tt>linger: false</tt>, <tt>linger: [true, 10]</tt>.
        def linger(on, seconds = 0)
          on, seconds = Options.linger(on, seconds)
          @linger_on = on
          @linger_seconds = seconds
          io = Options.stream(@handle) if on == false
          Options.kernel_linger(io, false, 0) if io
          nil
        end

        # true, false, or a Hash of :idle and :interval (seconds) and :count (probes), see tcp(7). nil unless set.
        def keepalive
          Options.of(self)[:keepalive]
        end

        def keepalive=(value)
          Options.set(self, :keepalive, Options.keepalive_value(value))
        end

        # For how many seconds sent data may stay unacknowledged (TCP_USER_TIMEOUT, tcp(7)). 0 is the system's default,
        # nil unless set.
        def user_timeout
          Options.of(self)[:user_timeout]
        end

        def user_timeout=(seconds)
          Options.set(self, :user_timeout, Options.user_timeout(seconds))
        end

        # SO_SNDBUF in bytes, of which Linux makes twice as much (socket(7)). nil unless set.
        def send_buffer
          Options.of(self)[:send_buffer]
        end

        def send_buffer=(bytes)
          Options.set(self, :send_buffer, Options.bytes(:send_buffer, bytes))
        end

        # SO_RCVBUF in bytes, of which Linux makes twice as much (socket(7)). nil unless set.
        def receive_buffer
          Options.of(self)[:receive_buffer]
        end

        def receive_buffer=(bytes)
          Options.set(self, :receive_buffer, Options.bytes(:receive_buffer, bytes))
        end

        # Seconds for opening, TLS handshake included. nil: +timeout+; 0: no limit.
        def connect_timeout
          @connect_timeout if defined?(@connect_timeout)
        end

        def connect_timeout=(seconds)
          @connect_timeout = Options.seconds_or_nil(:connect_timeout, seconds)
        end

        # Seconds for a read. nil: +timeout+; 0: no limit.
        def read_timeout
          @read_timeout if defined?(@read_timeout)
        end

        def read_timeout=(seconds)
          @read_timeout = Options.seconds_or_nil(:read_timeout, seconds)
        end

        # Seconds for a write. nil: +timeout+; 0: no limit.
        def write_timeout
          @write_timeout if defined?(@write_timeout)
        end

        def write_timeout=(seconds)
          @write_timeout = Options.seconds_or_nil(:write_timeout, seconds)
        end

        # The peer's numeric IP address, or the path of a UNIX socket. Raises TransportException (NOT_OPEN).
        def peer_address
          address = Peer.address(@handle)
          address.unix? ? address.unix_path : address.ip_address
        end

        # The peer's port; nil for a UNIX socket. Raises TransportException (NOT_OPEN).
        def peer_port
          address = Peer.address(@handle)
          address.ip_port if address.ip?
        end

        # Whether something has arrived that nobody has read; false at the peer's end of the stream. With TLS it may
        # turn out to be a record of the protocol itself.
        def unread_input?
          Peer.unread?(@handle)
        end

        # --- without the extension ----------------------------------------------------------------------------------

        def read(size)
          seconds = read_timeout || Timed.needed(@handle, @timeout)
          return __stock_read(size) if seconds.nil?

          Timed.read(self, @handle, size, seconds, @desc)
        end

        def write(data)
          seconds = write_timeout || Timed.needed(@handle, @timeout)
          return __stock_write(data) if seconds.nil?

          Timed.write(self, @handle, Bytes.force_binary_encoding(data), seconds, @desc)
        end

        # The kernel lingers only here, where the program waits for it; not when the garbage collector closes.
        def close
          if defined?(@linger_on) && @linger_on && @linger_seconds > 0
            io = Options.stream(@handle)
            Options.kernel_linger(io, true, @linger_seconds) if io
          end
          __stock_close
        end

        private

        def connect_socket(deadline)
          Connecting.connect(@host, @port, @desc, deadline, Options.of(self))
        end
      end
    end

    # Whether the extension is loaded and has this function.
    def self.ext?(function)
      const_defined?(:Ext, false) && Ext.respond_to?(function)
    end

    # What a socket knows about its peer.
    module Peer
      class << self
        def address(handle)
          io = Options.stream(handle) || raise(not_open("closed stream"))
          io.remote_address
        rescue SystemCallError => e
          raise not_open(e.message)
        end

        def unread?(handle)
          io = Options.stream(handle) || (return false)
          return true if !handle.equal?(io) && decrypted?(handle)
          return false unless io.wait_readable(0)

          peeked = io.recv_nonblock(1, ::Socket::MSG_PEEK, exception: false)
          peeked.is_a?(String) && !peeked.empty?
        rescue IOError # recv won't pass by bytes that are in the IO's own buffer
          !io.closed?
        rescue SystemCallError
          false
        end

        private

        # In OpenSSL, or in the buffer that openssl's Ruby part keeps.
        def decrypted?(ssl)
          buffer = [:@rbuffer, :@rbuf].map { |name| ssl.instance_variable_get(name) }.compact.first
          (buffer && !buffer.empty?) || ssl.pending > 0
        end

        def not_open(message)
          TransportException.new(TransportException::NOT_OPEN, message)
        end
      end
    end

    # Reading and writing with a timeout of its own, in Ruby. As thrift 0.25 does it, except that it waits in a way
    # that a fiber scheduler knows.
    module Timed
      class << self
        # The timeout, where the stock method mustn't be trusted with it: before 0.23 that waits for the descriptor
        # while what is to be read may be in the SSLSocket already.
        def needed(handle, timeout)
          return if timeout.nil? || timeout == 0 || Thrift::Socket.private_method_defined?(:wait_for)

          timeout if defined?(OpenSSL::SSL::SSLSocket) && handle.instance_of?(OpenSSL::SSL::SSLSocket)
        end

        def read(transport, handle, size, seconds, description)
          run(transport, seconds, "reading #{size} bytes from #{description}") do |wait|
            while (data = handle.read_nonblock(size, exception: false)).is_a?(Symbol)
              wait.call(data)
            end
            raise EOFError, "end of file reached" if data.nil?

            data
          end
        end

        def write(transport, handle, data, seconds, description)
          run(transport, seconds, "writing #{data.bytesize} bytes to #{description}") do |wait|
            written = 0
            while written < data.bytesize
              result = handle.write_nonblock(data.byteslice(written..-1), exception: false)
              result.is_a?(Symbol) ? wait.call(result) : written += result
            end
            written
          end
        end

        private

        # A connection that was interrupted in the middle is dead, whatever it was that did it.
        def run(transport, seconds, what)
          raise TransportException.new(TransportException::NOT_OPEN, "closed stream") unless transport.open?

          io = Options.stream(transport.instance_variable_get(:@handle))
          deadline = Connecting.now + seconds if seconds > 0
          done = false
          result = yield ->(direction) { wait(io, direction, deadline, what) }
          done = true
          result
        rescue TransportException
          raise
        rescue StandardError => e
          raise TransportException.new(TransportException::NOT_OPEN, e.message)
        ensure
          transport.close if done == false
        end

        def wait(io, direction, deadline, what)
          remaining = deadline && (deadline - Connecting.now)
          ready = (remaining.nil? || remaining > 0) && io.public_send(direction, remaining)
          raise TransportException.new(TransportException::TIMED_OUT, "Socket: Timed out #{what}") unless ready
        end
      end
    end
  end
end
