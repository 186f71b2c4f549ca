# frozen_string_literal: true

require "thrift/native/fields"

module Thrift
  module Native
    # C methods take shortcuts only while the classes are what we made of them. This notices whatever is changed later:
    # `def`, `define_method`, `alias_method`, `remove_method`, `undef_method`, mocks. (Prepended and included modules
    # need no notice, since they move the superclass pointer, at which C looks.)
    module Exactness
      # The parts that C takes shortcuts for, by the names that it knows as well.
      KINDS = [:socket, :unix_socket, :ssl_socket, :buffered, :framed, :memory].freeze
      # And the classes of the part :protocol.
      PROTOCOLS = { "BinaryProtocol" => :binary, "BinaryProtocolAccelerated" => :accelerated,
                    "CompactProtocol" => :compact }.freeze
      private_constant :PROTOCOLS

      # The methods of struct classes, and of the modules that they include, that C stands in for.
      STRUCT_METHODS = [:initialize, :read, :write, :validate, :struct_fields, *Fields::HELPERS.values.flatten].freeze

      # Chained in front of the class's own hooks, so that these still run, and can't hide ours.
      module Hooks
        private

        def method_added(name)
          Exactness.changed(self, name)
          super
        end

        def method_removed(name)
          Exactness.changed(self, name)
          super
        end

        def method_undefined(name)
          Exactness.changed(self, name)
          super
        end
      end

      class << self
        # Tells the extension which classes are as they should be, and watches them from now on.
        def watch(outcomes)
          @known = {}
          outcomes.reject(&:stock?).each do |outcome|
            kind = kind_of(outcome.row)
            register(kind, Thrift.const_get(outcome.row.name)) if kind
          end
          register(:base, Thrift::BaseTransport)
          register(:base_protocol, Thrift::BaseProtocol)
          register(:struct, Thrift::Struct, STRUCT_METHODS)
          register(:struct_union, Thrift::Struct_Union, STRUCT_METHODS)
          watch_decorator
        end

        # A method of this class was added, removed or undefined. Subclasses inherit the hooks and are none of our
        # business; nor is a method of a name that was unknown when we came, which nothing can have called.
        def changed(klass, name)
          names = @known[klass]
          if names
            Ext.touched(klass) if names.key?(name) && Ext.respond_to?(:touched)
          elsif STRUCT_METHODS.include?(name) && Ext.respond_to?(:struct_changed)
            Ext.struct_changed(klass)
          end
        end

        # Watches a struct class. It isn't kept alive by that.
        #
        # @return [Boolean] whether that was possible
        def observe(klass)
          singleton = klass.singleton_class
          singleton.prepend(Hooks) unless singleton < Hooks
          true
        rescue ::StandardError # frozen
          false
        end

        private

        def kind_of(row)
          KINDS.include?(row.part) ? row.part : PROTOCOLS[row.name]
        end

        # Nothing of it is replaced, but C looks through it.
        def watch_decorator
          row = Install::Row.new(:protocol, "MultiplexedProtocol", "protocol/multiplexed_protocol", [])
          return if Stock.objection(row, [])

          register(:multiplexed, Thrift::MultiplexedProtocol)
          register(:decorator, Thrift::ProtocolDecorator)
        end

        # +names+ are the methods that matter.
        def register(kind, klass, names = klass.instance_methods + klass.private_instance_methods)
          @known[klass] = names.each_with_object({}) { |name, known| known[name] = true }
          klass.singleton_class.prepend(Hooks)
          Ext.watch(kind, klass) if Ext.respond_to?(:watch)
        end
      end
    end
  end
end
