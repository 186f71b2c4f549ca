# frozen_string_literal: true

module ThriftBenchmark
  # What the environment says. Every size has two defaults: the usual one and the smallest (TN_SMOKE=1).
  module Settings
    module_function

    # The smallest size of everything: does it still run?
    def smoke?
      true?(ENV.fetch("TN_SMOKE", nil))
    end

    # @return [Integer] from the variable, else the default
    def integer(name, usual, smoke)
      given = ENV.fetch(name, "")
      return smoke? ? smoke : usual if given.empty?

      Integer(given, 10).tap { |number| raise ArgumentError, "#{name} must be at least 1" if number < 1 }
    rescue ArgumentError
      abort "#{name} must be a whole number of at least 1, not #{given.inspect}"
    end

    # @return [Float] seconds
    def seconds(name, usual, smoke)
      given = ENV.fetch(name, "")
      given.empty? ? (smoke? ? smoke : usual) : Float(given)
    rescue ArgumentError
      abort "#{name} must be a number of seconds, not #{given.inspect}"
    end

    # @return [Array<String>] from a comma-separated variable
    def list(name, default, allowed = nil)
      given = ENV.fetch(name, "").split(",").map(&:strip).reject(&:empty?)
      given = default if given.empty?
      unknown = allowed ? given - allowed : []
      abort "#{name}: #{unknown.join(", ")} is not one of #{allowed.join(", ")}" unless unknown.empty?
      given
    end

    def true?(value)
      %w[1 true yes on].include?(value.to_s.downcase)
    end

    # @return [Array<Boolean>] which of plain (false) and TLS (true) to run; both unless THRIFT_TLS is set
    def tls
      given = ENV.fetch("THRIFT_TLS", "")
      given.empty? ? [false, true] : [true?(given)]
    end

    def protocols
      list("THRIFT_PROTOCOL", ["accelerated"], %w[binary accelerated compact])
    end

    def transports
      list("THRIFT_TRANSPORT", ["framed"], %w[framed buffered])
    end

    def server
      ENV.fetch("THRIFT_SERVER", "Thrift::ThreadPoolServer")
    end

    # @return [Integer] the core for everything that shares one
    def core
      Integer(ENV.fetch("BENCHMARK_CORE", "0"), 10)
    end

    # The program that runs the server; clients always run under this Ruby.
    def server_interpreter
      given = ENV.fetch("THRIFT_SERVER_INTERPRETER", "")
      given.empty? ? nil : given
    end
  end
end
