# frozen_string_literal: true

require "thrift/native/socket"

module Thrift
  module Native
    module Impl
      # Methods of Thrift::UNIXSocket. The options that are about TCP do nothing here.
      module UNIXSocket
        # +timeout+ is in seconds, for each read and each write; nil or 0 waits for ever.
        def initialize(path, timeout = nil, **options)
          @path = path
          @timeout = timeout
          @desc = @path
          @handle = nil
          Options.assign(self, options, Options::UNIX) unless options.empty?
        end

        # Raises TransportException: ALREADY_OPEN or NOT_OPEN.
        def open
          raise TransportException.new(TransportException::ALREADY_OPEN, "Socket already open") if open?

          begin
            handle = ::UNIXSocket.new(@path)
            options = Options.of(self)
            Options.apply(handle, options) unless options.empty?
            @handle = handle
          rescue StandardError
            Connecting.close(handle)
            raise TransportException.new(TransportException::NOT_OPEN, "Could not open UNIX socket at #{@path}")
          end
        end
      end
    end
  end
end
