# frozen_string_literal: true

module Thrift
  module Native
    module Impl
      # thrift 0.25's protocols ask their transport for message_boundaries?, which an object of the program's own that
      # only reads and writes doesn't have. For such an object the answer is BaseTransport's: no.
      module Protocol
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
      end

      if ::Thrift::BaseTransport.method_defined?(:message_boundaries?) # thrift 0.25
        # See Protocol.
        module BinaryProtocol
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
        end

        # See Protocol.
        module CompactProtocol
          # @param transport [Object] what is read and written
          # @param max_string_size [Integer, nil] bytes, as thrift says
          def initialize(transport, max_string_size: ::Thrift::BaseProtocol::DEFAULT_MAX_STRING_SIZE)
            asked = Protocol.plain?(transport) ? Protocol::NoBoundaries : transport
            __stock_initialize(asked, max_string_size: max_string_size)
            @trans = transport
          end
        end
      end
    end
  end
end
