# frozen_string_literal: true

require "thrift/native/extensions"

module Thrift
  module Native
    @linger_default = ENV["THRIFT_NATIVE_LINGER"] != "0"

    class << self
      # Whether client sockets that were told nothing by Thrift::Socket#linger close by reset where that is provably
      # harmless: true, unless THRIFT_NATIVE_LINGER=0 is in the environment. Without the extension they never do.
      attr_reader :linger_default

      # <tt>Thrift::Native.linger_default = false</tt> makes every close an ordinary one, except for sockets with a
      # <tt>linger(true, ...)</tt> of their own. It counts at close, so for connections that are already open, too.
      def linger_default=(value)
        @linger_default = value ? true : false
        Ext.linger_default = @linger_default if Extensions.loaded?
      end
    end
  end
end
