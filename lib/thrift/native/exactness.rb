# frozen_string_literal: true

module Thrift
  module Native
    # C methods take shortcuts only while the classes are what we made of them. This notices whatever is changed later:
    # `def`, `define_method`, `alias_method`, `remove_method`, `undef_method`, mocks. (Prepended and included modules
    # need no notice, since they move the superclass pointer, at which C looks.)
    module Exactness
      # The parts that C takes shortcuts for, by the names that it knows as well.
      KINDS = [:socket, :unix_socket, :ssl_socket, :buffered, :framed, :memory].freeze

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
          outcomes.each do |outcome|
            kind = outcome.row.part
            register(kind, Thrift.const_get(outcome.row.name)) if KINDS.include?(kind) && !outcome.stock?
          end
          register(:base, Thrift::BaseTransport)
        end

        # A method of this class was added, removed or undefined. Subclasses inherit the hooks and are none of our
        # business; nor is a method of a name that was unknown when we came, which nothing can have called.
        def changed(klass, name)
          names = @known[klass]
          Ext.touched(klass) if names && names.key?(name) && Ext.respond_to?(:touched)
        end

        private

        def register(kind, klass)
          names = klass.instance_methods + klass.private_instance_methods
          @known[klass] = names.each_with_object({}) { |name, known| known[name] = true }
          klass.singleton_class.prepend(Hooks)
          Ext.watch(kind, klass) if Ext.respond_to?(:watch)
        end
      end
    end
  end
end
