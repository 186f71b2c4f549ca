# frozen_string_literal: true

require "thrift/native/server_socket"

module Thrift
  module Native
    module Impl
      # Methods of Thrift::UNIXServerSocket: listening and accepting. Its options are those of ServerSocket that aren't
      # about TCP.
      module UNIXServerSocket
        include ServerOptions

        # call-seq:
        #   initialize(path, client_timeout: 5, **options)
        #   initialize(handle: listening_socket, **options)
        def initialize(path = nil, client_timeout: CLIENT_TIMEOUT, handle: nil, **options)
          @path = path
          @client_timeout = Options.seconds_or_nil(:client_timeout, client_timeout)
          @handle = nil
          if handle
            @adopted = Adopting.claim(handle, ::UNIXServer)
            @path ||= @adopted.local_address.unix_path
          elsif path.nil?
            raise ArgumentError, "wrong number of arguments (given 0, expected 1, or handle:)"
          end
          Options.assign(self, options, Options::UNIX_SERVER) unless options.empty?
        end

        def listen
          server = listening_socket
          @handle = server
          Listener.watch(self, server, !adopted?)
          server
        end

        def accept
          handle = @handle
          return if handle.nil?

          listener = Listener.of(self, handle)
          return Accepting.stock(self, __stock_accept) unless listener

          Accepting.wrap(self, Thrift::UNIXSocket, listener.accept(Options.of(self)), nil)
        end

        # Removes the socket's file, unless somebody else made it.
        def close
          return __stock_close unless adopted?

          @handle.close unless @handle.nil? || @handle.closed?
          @handle = nil
        end

        private

        def listening_socket
          return @adopted if adopted? && !@adopted.closed?
          raise IOError, "the adopted listener was closed" if adopted?

          server = ::UNIXServer.new(@path)
          backlog = Options.of(self)[:backlog]
          server.listen(backlog) if backlog
          server
        end

        # Singleton methods of the class.
        module ClassMethods
          # See ServerSocket.from_fd.
          def from_fd(handle, **options)
            new(handle: handle, **options)
          end
        end
      end
    end
  end
end
