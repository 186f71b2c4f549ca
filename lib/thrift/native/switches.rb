# frozen_string_literal: true

module Thrift
  module Native
    # What the environment switches off, read once, when the gem is loaded:
    #
    # THRIFT_NATIVE=0::             everything
    # THRIFT_NATIVE_SKIP=part,...:: single parts (the first column of Install::TABLE), or a group of them
    # THRIFT_NATIVE_PURE=1::        the extension, as if it hadn't been built
    module Switches
      GROUPS = {
        sockets: [:socket, :unix_socket, :ssl_socket, :server_socket, :unix_server_socket, :ssl_server_socket],
        tls: [:ssl_socket, :ssl_server_socket],
        transports: [:buffered, :framed, :memory]
      }.freeze

      class << self
        def on?
          ENV["THRIFT_NATIVE"] != "0"
        end

        # The switch that turns this part off, or nil.
        def off(part)
          return "THRIFT_NATIVE=0" unless on?

          "THRIFT_NATIVE_SKIP" if skipped.include?(part)
        end

        private

        def skipped
          @skipped ||= ENV.fetch("THRIFT_NATIVE_SKIP", "").split(/[\s,]+/).reject(&:empty?).flat_map do |word|
            name = word.to_sym
            unless GROUPS.key?(name) || Install::TABLE.any? { |row| row.part == name }
              warn "thrift_native: THRIFT_NATIVE_SKIP names #{word.inspect}, which is no part"
            end
            GROUPS.fetch(name, [name])
          end
        end
      end
    end
  end
end
