# frozen_string_literal: true

require "thrift/native/version"
require "thrift/native/extensions"
require "thrift/native/exactness"
require "thrift/native/linger"
require "thrift/native/status"
require "thrift/native/stock"
require "thrift/native/switches"

module Thrift
  # Native methods for the thrift gem's classes. The classes stay themselves; what is new lives in here.
  module Native
    # Implementations in Ruby, a module for each class, by the class's own name.
    module Impl; end

    # What is replaced, where, and by what. Nothing else in this gem touches the thrift gem's classes.
    #
    # The methods come from <tt>Impl::<name></tt> (Ruby, in thrift/native/<part>.rb) and from <tt>Ext::<name></tt> (C),
    # as far as these exist; C wins where both have a method. They are defined in the class itself, so that whatever is
    # patched later wins over them, and the method that was there stays under the private name
    # <tt>__stock_<method></tt>. +needs+ are the parts that must be replaced, too.
    module Install
      Row = ::Struct.new(:part, :name, :source, :needs)

      TABLE = [
        #       part                 class                    source, in lib/thrift                needs
        Row.new(:socket,             "Socket",                "transport/socket",                  []),
        Row.new(:unix_socket,        "UNIXSocket",            "transport/unix_socket",             [:socket]),
        Row.new(:ssl_socket,         "SSLSocket",             "transport/ssl_socket",              [:socket]),
        Row.new(:server_socket,      "ServerSocket",          "transport/server_socket",           [:socket]),
        Row.new(:unix_server_socket, "UNIXServerSocket",      "transport/unix_server_socket",      [:unix_socket]),
        Row.new(:ssl_server_socket,  "SSLServerSocket",       "transport/ssl_server_socket",       [:server_socket]),
        Row.new(:buffered,           "BufferedTransport",     "transport/buffered_transport",      []),
        Row.new(:framed,             "FramedTransport",       "transport/framed_transport",        []),
        Row.new(:memory,             "MemoryBufferTransport", "transport/memory_buffer_transport", []),
        Row.new(:client,             "Client",                "client",                            []),
        Row.new(:protocol,           "BinaryProtocol",        "protocol/binary_protocol",          []),
        Row.new(:protocol,           "BinaryProtocolAccelerated", "protocol/binary_protocol_accelerated", []),
        Row.new(:protocol,           "CompactProtocol",       "protocol/compact_protocol",         []),
        Row.new(:protocol,           "BinaryProtocolFactory", "protocol/binary_protocol",          [:protocol]),
        Row.new(:protocol,           "BinaryProtocolAcceleratedFactory", "protocol/binary_protocol_accelerated",
                [:protocol]),
        Row.new(:protocol,           "CompactProtocolFactory", "protocol/compact_protocol",        [:protocol]),
        Row.new(:codec,              "Struct",                "struct",                            []),
        Row.new(:codec,              "Union",                 "union",                             []),
        Row.new(:codec,              "Serializer",            "serializer/serializer",             []),
        Row.new(:codec,              "Deserializer",          "serializer/deserializer",           []),
        Row.new(:servers,            "SimpleServer",          "server/simple_server",              []),
        Row.new(:servers,            "ThreadedServer",        "server/threaded_server",            []),
        Row.new(:servers,            "ThreadPoolServer",      "server/thread_pool_server",         []),
        Row.new(:servers,            "NonblockingServer",     "server/nonblocking_server",         [])
      ].each(&:freeze).freeze

      # What became of one row: +state+ is :native, :ruby or :stock, and +reason+ says why it isn't native.
      Outcome = ::Struct.new(:row, :state, :reason) do
        def stock?
          state == :stock
        end
      end

      class << self
        # Replaces what the table says, once; later calls do nothing. thrift must be loaded, at least up to the last
        # line of thrift.rb.
        def run
          return if @outcomes

          @outcomes = []
          Extensions.load_stock
          load_implementations if Switches.on?
          # All checks come first: a class that we changed isn't stock any more, and others inherit from it.
          plans = TABLE.map { |row| [row, *plan(row)] }
          plans.each { |row, methods, objection| @outcomes << carry_out(row, methods, objection) }
          Exactness.watch(@outcomes) if Extensions.loaded?
        end

        # An Outcome for each row of the table; empty before #run.
        def outcomes
          @outcomes || []
        end

        private

        def load_implementations
          Extensions.load_native
          TABLE.map(&:part).uniq.each do |file|
            require "thrift/native/#{file}" if File.file?(File.join(__dir__, "#{file}.rb"))
          end
        end

        # [methods by name, objection or nil]
        def plan(row)
          switched_off = Switches.off(row.part)
          return [{}, switched_off] if switched_off

          methods = implementation(row.name)
          if methods.empty?
            return [{}, Extensions.loaded? ? "nothing to replace" : "needs the extension (#{Extensions.missing})"]
          end

          [methods, Stock.objection(row, methods.keys)]
        end

        # {name => [UnboundMethod, visibility, :native or :ruby]}
        def implementation(name)
          [[Impl, :ruby], [Extensions.loaded? && Ext, :native]].each_with_object({}) do |(space, state), methods|
            next unless space && space.const_defined?(name, false)

            mod = space.const_get(name, false)
            [:public, :protected, :private].each do |visibility|
              mod.send("#{visibility}_instance_methods").each do |method|
                methods[method] = [mod.instance_method(method), visibility, state]
              end
            end
          end
        end

        def carry_out(row, methods, objection)
          lacking = row.needs.find { |part| @outcomes.any? { |outcome| outcome.row.part == part && outcome.stock? } }
          objection ||= "needs #{lacking}, which is stock" if lacking
          return Outcome.new(row, :stock, objection) if objection

          klass = Thrift.const_get(row.name, false)
          methods.each { |name, (method, visibility)| replace(klass, name, method, visibility) }
          add_class_methods(klass, row.name)
          if methods.each_value.any? { |plan| plan.last == :native } || native_class?(klass.superclass)
            return Outcome.new(row, :native, nil)
          end

          Outcome.new(row, :ruby, Extensions.loaded? ? "Ruby is enough here" : "the extension: #{Extensions.missing}")
        end

        # SSLSocket and UNIXSocket read and write by what they inherit.
        def native_class?(klass)
          @outcomes.any? { |outcome| outcome.state == :native && Thrift.const_get(outcome.row.name, false) == klass }
        end

        # What the class itself is to answer, besides: new names, and none of the stock ones.
        def add_class_methods(klass, name)
          return unless Impl.const_defined?(name, false)

          impl = Impl.const_get(name, false)
          klass.extend(impl.const_get(:ClassMethods, false)) if impl.const_defined?(:ClassMethods, false)
        end

        # The alias comes first: it keeps the stock method, and Ruby then doesn't warn that it's redefined.
        def replace(klass, name, method, visibility)
          if Stock.own_method?(klass, name)
            klass.send(:alias_method, :"__stock_#{name}", name)
            klass.send(:private, :"__stock_#{name}")
          end
          klass.send(:define_method, name, method)
          klass.send(visibility, name)
        end
      end
    end
  end
end
