# frozen_string_literal: true

module Thrift
  module Native
    # What is native, and why something is not. <tt>puts Thrift::Native.status</tt> prints it.
    class Status
      Line = ::Struct.new(:part, :name, :state, :reason)

      # Line of each class: +part+ (Symbol), +name+ (String), +state+ (:native, :ruby or :stock), +reason+ (String, nil
      # if native).
      attr_reader :lines

      def initialize(outcomes)
        @lines = outcomes.map do |outcome|
          Line.new(outcome.row.part, "Thrift::#{outcome.row.name}", outcome.state, outcome.reason).freeze
        end.freeze
      end

      # The Line of a class, by name ("Thrift::Socket") or by the class itself; nil if it isn't in the table.
      def [](klass)
        lines.find { |line| line.name == klass.to_s }
      end

      # {"Thrift::Socket" => :native, ...}
      def to_h
        lines.each_with_object({}) { |line, states| states[line.name] = line.state }
      end

      # Whether anything is native.
      def active?
        lines.any? { |line| line.state == :native }
      end

      # "loaded", or why our extension isn't.
      def extension
        return "loaded" if Extensions.loaded?

        Switches.on? ? Extensions.missing : "THRIFT_NATIVE=0"
      end

      # How TLS reads, writes and shakes hands: "direct", or why it goes through Ruby's API. nil without the extension.
      def tls
        Ext.tls_status if Extensions.loaded? && Ext.respond_to?(:tls_status)
      end

      def to_s
        width = lines.map { |line| line.name.size }.max.to_i
        table = lines.map { |line| format("%-#{width}s  %-6s  %s", line.name, line.state, line.reason).rstrip }
        [versions, "extension: #{extension}", ("TLS: #{tls}" if tls), *table].compact.join("\n")
      end

      alias inspect to_s

      private

      def versions
        stock = Gem.loaded_specs["thrift"] if defined?(Gem)
        "thrift_native #{VERSION}, thrift #{stock ? stock.version : "of unknown version"}, " \
          "#{RUBY_ENGINE} #{RUBY_VERSION}"
      end
    end

    class << self
      # A Status: class by class, what is native and why something is not.
      def status
        Status.new(Install.outcomes)
      end

      # Whether anything is native.
      def active?
        status.active?
      end
    end
  end
end
