# frozen_string_literal: true

module Thrift
  module Native
    # TLS sessions that clients resume on reconnecting, on request (Thrift::SSLSocket, +session_reuse+).
    #
    # Kept for each SSLContext, and there for each host, port and name that was verified, so that a session is never
    # offered to anybody but the server that it was made with, under the same rules of verification. With TLS 1.3 the
    # tickets arrive after the handshake, with the first data: so the session is taken when the connection is closed,
    # too. No callback of the context is used; they are the program's.
    class Sessions
      CONTEXTS = 32
      SERVERS = 256
      private_constant :CONTEXTS, :SERVERS

      def initialize
        @lock = Mutex.new
        @contexts = {}.compare_by_identity
      end

      # The last session with this server, or nil.
      def [](context, server)
        @lock.synchronize do
          sessions = @contexts[context]
          sessions && sessions[server]
        end
      end

      # Remembers the session of an SSLSocket, if it has one worth it.
      def keep(context, server, ssl)
        session = ssl.session
        return unless session

        @lock.synchronize do
          sessions = @contexts.delete(context) || {}
          @contexts.shift if @contexts.size >= CONTEXTS
          @contexts[context] = sessions
          sessions.delete(server)
          sessions.shift if sessions.size >= SERVERS
          sessions[server] = session
        end
      rescue StandardError # of OpenSSL, or of a double: then there is just nothing to resume
        nil
      end

      CLIENTS = new
    end
  end
end
