# frozen_string_literal: true

module Thrift
  module Native
    module Impl
      # The part of Thrift::FramedTransport that isn't worth C: the limit on frames, which thrift has since 0.25.
      module FramedTransport
        # The largest frame that is accepted by default, in bytes.
        DEFAULT_MAX_FRAME_SIZE = 16_384_000

        # The largest limit that may be set, in bytes.
        HARD_MAX_FRAME_SIZE = 0x3FFFFFFF

        # thrift 0.25 has all this itself.
        unless ::Thrift::FramedTransport.const_defined?(:DEFAULT_MAX_FRAME_SIZE)
          # A transport that sends and receives messages with their length in front.
          #
          # @param transport [Thrift::BaseTransport] what carries the frames
          # @param read [Boolean] false reads without frames
          # @param write [Boolean] false writes without frames
          # @param max_frame_size [Integer] bytes, 1 to 0x3FFFFFFF; a larger frame is refused before it is read
          # @raise [ArgumentError] if max_frame_size is out of range
          def initialize(transport, read = true, write = true, max_frame_size: DEFAULT_MAX_FRAME_SIZE)
            unless max_frame_size > 0 && max_frame_size <= HARD_MAX_FRAME_SIZE
              raise ArgumentError, "max_frame_size must be > 0 and <= #{HARD_MAX_FRAME_SIZE}"
            end

            __stock_initialize(transport, read, write)
            @max_frame_size = max_frame_size
          end

          # @return [Integer] bytes; the default for an object that was made before this gem was loaded
          def max_frame_size
            @max_frame_size || DEFAULT_MAX_FRAME_SIZE
          end
        end
      end
    end
  end
end
