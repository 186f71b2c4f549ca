# frozen_string_literal: true

require "io/wait"
require "socket"

module Thrift
  module Native
    # What the options of the sockets mean: which values are sense, where they are kept, and how they get to the
    # kernel. The options themselves are documented at the methods of Impl::Socket and Impl::ServerSocket.
    #
    # Timeouts are kept in instance variables of their own (<tt>@read_timeout</tt> and the like, seconds), linger in
    # <tt>@linger_on</tt> and <tt>@linger_seconds</tt>, all others in the frozen Hash <tt>@native_options</tt>. None of
    # these exists before something is set, so that a socket without options costs nothing.
    module Options
      TIMEOUTS = { connect_timeout: :@connect_timeout, read_timeout: :@read_timeout,
                   write_timeout: :@write_timeout }.freeze
      # What TCP sockets take, UNIX sockets take, and TLS sockets take besides.
      UNIX = [:connect_timeout, :read_timeout, :write_timeout, :linger, :send_buffer, :receive_buffer].freeze
      TCP = [*UNIX, :nodelay, :keepalive, :user_timeout].freeze
      TLS = [*TCP, :session_reuse].freeze
      UNIX_SERVER = [*(UNIX - [:connect_timeout]), :backlog].freeze
      SERVER = [*(TCP - [:connect_timeout]), :backlog, :reuse_port].freeze

      MAX_INT = (2**31) - 1
      # setsockopt(2) refuses more, see tcp(7).
      KEEPALIVE = { idle: 32_767, interval: 32_767, count: 127 }.freeze
      NONE = {}.freeze
      private_constant :MAX_INT, :KEEPALIVE, :NONE

      class << self
        # The keyword arguments of a constructor, through the methods of the same names. nil leaves the default.
        def assign(transport, given, known)
          unknown = given.keys - known
          unless unknown.empty?
            raise ArgumentError, "unknown keyword#{"s" if unknown.size > 1}: #{unknown.map(&:inspect).join(", ")}"
          end

          given.each do |name, value|
            next if value.nil?

            name == :linger ? transport.linger(*linger_arguments(value)) : transport.public_send("#{name}=", value)
          end
        end

        # All of +transport+ that is in the Hash. (Ruby 2.7 warns of variables that aren't there.)
        def of(transport)
          return NONE unless transport.instance_variable_defined?(:@native_options)

          transport.instance_variable_get(:@native_options)
        end

        def store(transport, name, value)
          transport.instance_variable_set(:@native_options, of(transport).merge(name => value).freeze)
        end

        # Keeps an option of a connection, and sets it at once if that's open.
        def set(transport, name, value)
          store(transport, name, value)
          io = stream(transport.instance_variable_get(:@handle))
          apply(io, name => value) if io
          value
        end

        # The open socket in +handle+, below TLS if need be; nil if there is none.
        def stream(handle)
          io = handle.is_a?(BasicSocket) || !handle.respond_to?(:to_io) ? handle : handle.to_io
          io if io.is_a?(BasicSocket) && !io.closed?
        end

        def tcp?(io)
          io.is_a?(::TCPSocket) || (io.is_a?(::Socket) && io.local_address.ip?)
        end

        # Sets +options+ on an open socket. Raises SystemCallError.
        def apply(io, options)
          return if options.empty?

          buffers(io, options)
          return unless tcp?(io)

          nodelay(io, options[:nodelay]) if options.key?(:nodelay)
          keepalive(io, options[:keepalive]) if options.key?(:keepalive)
          return unless options.key?(:user_timeout)

          io.setsockopt(::Socket::IPPROTO_TCP, ::Socket::TCP_USER_TIMEOUT, (options[:user_timeout] * 1000).ceil)
        end

        # These have to be set before connect or listen, since the window's scale is fixed in the handshake (tcp(7)).
        def buffers(io, options)
          io.setsockopt(::Socket::SOL_SOCKET, ::Socket::SO_SNDBUF, options[:send_buffer]) if options[:send_buffer]
          return unless options[:receive_buffer]

          io.setsockopt(::Socket::SOL_SOCKET, ::Socket::SO_RCVBUF, options[:receive_buffer])
        end

        def buffers?(options)
          options.key?(:send_buffer) || options.key?(:receive_buffer)
        end

        def nodelay(io, on)
          io.setsockopt(::Socket::IPPROTO_TCP, ::Socket::TCP_NODELAY, on ? 1 : 0)
        end

        # The kernel's own lingering: with it, close(2) waits up to so many seconds for what is still to be sent.
        def kernel_linger(io, on, seconds)
          io.setsockopt(::Socket::Option.linger(on, seconds))
        end

        # --- which values are sense ---------------------------------------------------------------------------------

        def boolean(name, value)
          return value if [true, false].include?(value)

          nonsense(name, "true or false", value)
        end

        # A duration in seconds, as Integer or Float.
        def seconds(name, value)
          nonsense(name, "a number of seconds, 0 or more", value) unless value.is_a?(Numeric) && value.real?
          number = value.is_a?(Integer) ? value : Float(value)
          nonsense(name, "a number of seconds, 0 or more", value) unless number.finite? && number >= 0
          number
        end

        def seconds_or_nil(name, value)
          value.nil? ? nil : seconds(name, value)
        end

        def integer(name, value, range, unit)
          return value if value.is_a?(Integer) && range.cover?(value)

          nonsense(name, "an Integer from #{range.min} to #{range.max} (#{unit})", value)
        end

        def bytes(name, value)
          integer(name, value, 1..MAX_INT, "bytes")
        end

        def backlog(value)
          integer(:backlog, value, 1..MAX_INT, "connections")
        end

        def user_timeout(value)
          unless ::Socket.const_defined?(:TCP_USER_TIMEOUT)
            raise ArgumentError, "user_timeout: this system has no TCP_USER_TIMEOUT"
          end

          number = seconds(:user_timeout, value)
          nonsense(:user_timeout, "at most #{MAX_INT / 1000} seconds", value) if number * 1000 > MAX_INT
          number
        end

        def keepalive_value(value)
          return value if [true, false].include?(value)

          unless value.is_a?(Hash) && (value.keys - KEEPALIVE.keys).empty?
            nonsense(:keepalive, "true, false or a Hash of :idle, :interval and :count", value)
          end
          value.each do |key, number|
            integer("keepalive: #{key}", number, 1..KEEPALIVE.fetch(key), key == :count ? "probes" : "seconds")
          end
          value.dup.freeze
        end

        # [on, seconds], checked. +on+ may be nil, for the default policy.
        def linger(on, seconds)
          nonsense(:linger, "true, false or nil as its first argument", on) unless [true, false, nil].include?(on)
          [on, integer(:linger, seconds, 0..65_535, "seconds")]
        end

        private

        def linger_arguments(value)
          return [value, 0] if [true, false].include?(value)
          return value if value.is_a?(Array) && value.size == 2

          nonsense(:linger, "true, false or [on, seconds]", value)
        end

        def keepalive(io, value)
          io.setsockopt(::Socket::SOL_SOCKET, ::Socket::SO_KEEPALIVE, value ? 1 : 0)
          return unless value.is_a?(Hash)

          { idle: :TCP_KEEPIDLE, interval: :TCP_KEEPINTVL, count: :TCP_KEEPCNT }.each do |key, constant|
            next unless value[key] && ::Socket.const_defined?(constant)

            io.setsockopt(::Socket::IPPROTO_TCP, ::Socket.const_get(constant), value[key])
          end
        end

        def nonsense(name, expected, value)
          raise ArgumentError, "#{name} must be #{expected}, not #{value.inspect}"
        end
      end
    end
  end
end
