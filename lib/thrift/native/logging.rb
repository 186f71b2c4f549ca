# frozen_string_literal: true

require "logger"

module Thrift
  module Native # :nodoc:
    class << self
      # Where the little that there is to say goes: a Logger, or whatever answers +warn+ with a String. Warnings to
      # stderr unless set.
      attr_writer :logger

      def logger
        @logger ||= Logger.new($stderr, level: Logger::WARN, progname: "thrift_native")
      end
    end
  end
end
