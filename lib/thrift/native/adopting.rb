# frozen_string_literal: true

require "fcntl"
require "thrift/native/accepting"

module Thrift
  module Native
    # Listening sockets that somebody else opened: a supervisor, a parent, the program itself.
    module Adopting
      # sd_listen_fds(3): the first descriptor that systemd passes.
      FIRST = 3
      private_constant :FIRST

      class << self
        # +source+, a descriptor's number or a Ruby IO, as an IO of +server_class+ (::TCPServer or ::UNIXServer).
        # Raises ArgumentError unless it's a listening socket of that kind.
        def claim(source, server_class)
          io = source.is_a?(Integer) ? ::Socket.for_fd(source) : source
          check(io, source, server_class)
          return io if io.instance_of?(server_class)

          # The descriptor changes hands: one owner, one close.
          server = server_class.for_fd(io.fileno)
          io.autoclose = false
          server
        rescue SystemCallError => e
          nonsense(source, e.message)
        end

        # Descriptors and names that systemd passed to this very process, as [[number, name], ...]. The environment
        # is cleared, so that children don't take them for theirs, unless +keep+.
        def descriptors(keep)
          return [] unless ENV["LISTEN_PID"].to_s == Process.pid.to_s

          count = Integer(ENV.fetch("LISTEN_FDS", "0"), 10)
          names = ENV.fetch("LISTEN_FDNAMES", "").split(":", -1)
          Array.new(count) do |index|
            number = FIRST + index
            io = ::IO.for_fd(number, autoclose: false)
            io.fcntl(Fcntl::F_SETFD, Fcntl::FD_CLOEXEC)
            [number, names[index]]
          end
        ensure
          %w[LISTEN_PID LISTEN_FDS LISTEN_FDNAMES].each { |name| ENV.delete(name) } unless keep
        end

        # Whether a descriptor is a UNIX socket.
        def unix?(number)
          socket = ::Socket.for_fd(number)
          socket.autoclose = false
          socket.local_address.unix?
        end

        private

        def check(io, source, server_class)
          nonsense(source, "not a socket") unless io.is_a?(BasicSocket)
          keep = source.is_a?(Integer)
          io.autoclose = false if keep
          nonsense(source, "not listening") unless listening?(io)
          unix = io.local_address.unix?
          wanted = server_class == ::UNIXServer
          nonsense(source, wanted ? "not a UNIX socket" : "a UNIX socket") unless unix == wanted
          io.autoclose = true if keep
        end

        def listening?(io)
          io.getsockopt(::Socket::SOL_SOCKET, ::Socket::SO_ACCEPTCONN).bool
        rescue Errno::ENOPROTOOPT, NameError
          true
        end

        def nonsense(source, what)
          raise ArgumentError, "handle must be a listening socket or its descriptor, not #{source.inspect} (#{what})"
        end
      end
    end
  end
end
