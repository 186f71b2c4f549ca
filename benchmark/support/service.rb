# frozen_string_literal: true

require "digest"
require "set"
require_relative "../../spec/fixtures/load"

module ThriftBenchmark
  # The Echo service of the specs: every method gives back what it got, so that only the library is measured.
  module Service
    METHODS = %w[echo item batch].freeze

    # A handler that thinks before it answers.
    class SlowHandler < Fixtures::Handler
      def initialize(pause)
        super()
        @pause = pause
      end

      METHODS.each do |name|
        define_method(name) do |argument|
          sleep(@pause)
          super(argument)
        end
      end
    end

    module_function

    # @param pause [Numeric] seconds that the handler takes for each call
    def processor(pause = 0)
      Fixtures::Echo::Processor.new(pause.positive? ? SlowHandler.new(pause) : Fixtures::Handler.new)
    end

    def client(protocol)
      Fixtures::Echo::Client.new(protocol)
    end

    # The argument of a method, always an equal one.
    def value(method)
      case method
      when "echo" then Fixtures.small
      when "item" then Fixtures.item
      when "batch" then Fixtures.batch
      else raise ArgumentError, "no method #{method}"
      end
    end

    # A call as a block without arguments, so that there is no `public_send` in the timed loop.
    def call(client, method)
      argument = value(method)
      case method
      when "echo" then -> { client.echo(argument) }
      when "item" then -> { client.item(argument) }
      when "batch" then -> { client.batch(argument) }
      end
    end

    # A digest of every field of a value, independent of any protocol, to compare results between processes.
    def digest(value)
      Digest::SHA256.hexdigest(describe(value))
    end

    def describe(value)
      case value
      when Set then "set(#{value.map { |element| describe(element) }.join(",")})"
      when Array then "[#{value.map { |element| describe(element) }.join(",")}]"
      when Hash then "{#{value.map { |key, element| "#{describe(key)}:#{describe(element)}" }.join(",")}}"
      when String then "#{value.encoding}#{value.b.dump}"
      when Float then [value].pack("G").unpack1("H*")
      when Integer, true, false, nil then value.inspect
      else describe_struct(value)
      end
    end

    def describe_struct(value)
      fields = value.instance_variables.sort.map { |name| "#{name}=#{describe(value.instance_variable_get(name))}" }
      "#{value.class}(#{fields.join(",")})"
    end
  end
end
