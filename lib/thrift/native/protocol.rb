# frozen_string_literal: true

module Thrift
  module Native
    module Impl
      # What isn't worth C in the protocols: making them.
      #
      # thrift 0.25's protocols ask their transport for message_boundaries?, which an object of the program's own that
      # only reads and writes doesn't have. For such an object the answer is BaseTransport's: no.
      module Protocol
        # The longest string that is read by default, in bytes.
        DEFAULT_MAX_STRING_SIZE = 16_384_000

        # The limit on strings and how to change it, for each of the protocols.
        module Limit
          # @param size [Integer, nil] bytes; nil reads strings of any length
          # @raise [ArgumentError] unless it's nil or a positive Integer
          def max_string_size=(size)
            Protocol.check(size)
            @max_string_size = size
          end
        end

        # In place of such a transport, for as long as the protocol's initialize runs.
        module NoBoundaries
          def self.message_boundaries?
            false
          end
        end

        # @param transport [Object]
        # @return [Boolean] whether initialize can't ask it
        def self.plain?(transport)
          !transport.respond_to?(:message_boundaries?)
        end

        # @param size [Object] what is to be a limit on strings
        # @raise [ArgumentError] unless it's nil or a positive Integer
        def self.check(size)
          return if size.nil? || (size.is_a?(Integer) && size > 0)

          raise ArgumentError, "max_string_size must be nil or a positive Integer"
        end
      end

      if ::Thrift::BaseTransport.method_defined?(:message_boundaries?) # thrift 0.25
        # See Protocol.
        module BinaryProtocol
          include Protocol::Limit

          # @param trans [Object] what is read and written
          # @param strict_read [Boolean] refuse messages without a version
          # @param strict_write [Boolean] write the version
          # @param max_string_size [Integer, nil] bytes, as thrift says
          def initialize(trans, strict_read = true, strict_write = true,
                         max_string_size: ::Thrift::BaseProtocol::DEFAULT_MAX_STRING_SIZE)
            asked = Protocol.plain?(trans) ? Protocol::NoBoundaries : trans
            __stock_initialize(asked, strict_read, strict_write, max_string_size: max_string_size)
            @trans = trans
          end

          alias __tn_initialize initialize # C has its own for the plain case
        end

        # See Protocol.
        module CompactProtocol
          include Protocol::Limit

          # @param transport [Object] what is read and written
          # @param max_string_size [Integer, nil] bytes, as thrift says
          def initialize(transport, max_string_size: ::Thrift::BaseProtocol::DEFAULT_MAX_STRING_SIZE)
            asked = Protocol.plain?(transport) ? Protocol::NoBoundaries : transport
            __stock_initialize(asked, max_string_size: max_string_size)
            @trans = transport
          end

          alias __tn_initialize initialize # C has its own for the plain case
        end
      elsif Extensions.loaded? # the limit is kept in C
        # See Protocol.
        module BinaryProtocol
          include Protocol::Limit

          # @param trans [Object] what is read and written
          # @param strict_read [Boolean] refuse messages without a version
          # @param strict_write [Boolean] write the version
          # @param max_string_size [Integer, nil] bytes; a longer string is refused before it is read, nil for no limit
          # @raise [ArgumentError] if max_string_size is neither nil nor a positive Integer
          def initialize(trans, strict_read = true, strict_write = true,
                         max_string_size: Protocol::DEFAULT_MAX_STRING_SIZE)
            Protocol.check(max_string_size)
            __stock_initialize(trans, strict_read, strict_write)
            @max_string_size = max_string_size unless max_string_size == Protocol::DEFAULT_MAX_STRING_SIZE
          end

          alias __tn_initialize initialize # C has its own for the plain case

          # @return [Integer, nil] bytes; the default for an object that was made before this gem was loaded
          def max_string_size
            defined?(@max_string_size) ? @max_string_size : Protocol::DEFAULT_MAX_STRING_SIZE
          end
        end

        # See Protocol.
        module CompactProtocol
          include Protocol::Limit

          # @param transport [Object] what is read and written
          # @param max_string_size [Integer, nil] bytes; a longer string is refused before it is read, nil for no limit
          # @raise [ArgumentError] if max_string_size is neither nil nor a positive Integer
          def initialize(transport, max_string_size: Protocol::DEFAULT_MAX_STRING_SIZE)
            Protocol.check(max_string_size)
            __stock_initialize(transport)
            @max_string_size = max_string_size unless max_string_size == Protocol::DEFAULT_MAX_STRING_SIZE
          end

          alias __tn_initialize initialize # C has its own for the plain case

          # @return [Integer, nil] bytes; the default for an object that was made before this gem was loaded
          def max_string_size
            defined?(@max_string_size) ? @max_string_size : Protocol::DEFAULT_MAX_STRING_SIZE
          end
        end
      end

      if const_defined?(:CompactProtocol, false)
        # thrift's factories since 0.25, on every thrift.
        module BinaryProtocolFactory
          include Protocol::Limit

          unless ::Thrift::BaseProtocol.const_defined?(:DEFAULT_MAX_STRING_SIZE)
            # @param max_string_size [Integer, nil] bytes, of the protocols that are made
            # @raise [ArgumentError] if it's neither nil nor a positive Integer
            def initialize(max_string_size: Protocol::DEFAULT_MAX_STRING_SIZE)
              self.max_string_size = max_string_size
            end

            # @param trans [Object] what is to be read and written
            def get_protocol(trans)
              protocol = __stock_get_protocol(trans)
              protocol.max_string_size = @max_string_size if defined?(@max_string_size)
              protocol
            end
          end
        end

        # See BinaryProtocolFactory.
        module BinaryProtocolAcceleratedFactory
          include BinaryProtocolFactory
        end

        # See BinaryProtocolFactory.
        module CompactProtocolFactory
          include BinaryProtocolFactory
        end
      end
    end
  end
end
