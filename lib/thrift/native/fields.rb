# frozen_string_literal: true

require "thrift/native/validation"

module Thrift
  module Native
    # What C has to know of a struct class before it may stand in for its methods. C looks at FIELDS itself, so the
    # small methods by which the thrift gem's Ruby code does must be the thrift gem's own; and it leaves out calls of
    # methods that it knows, as long as nothing is defined in the class that would be called instead.
    module Fields
      HELPERS = {
        "Struct" => [:fields_with_default_values],
        "Struct_Union" => [:name_to_id, :sorted_field_ids, :each_field]
      }.freeze

      # The methods that C may leave out, by the bits that stand for them in C.
      INHERITED = { initialize: 1, read: 2, write: 4 }.freeze
      VALIDATE = 8

      class << self
        # Called by C when it meets a class for the first time, or after a method of it has changed.
        #
        # @param klass [Class]
        # @return [Array(Integer, Array), nil] bits of the methods that are known, and Validation's checks; nil if
        #   FIELDS isn't all
        def meet(klass)
          return unless plain?(klass)

          checks = Validation.checks(klass)
          return [0, []] unless Exactness.observe(klass)

          [(checks ? VALIDATE : 0) | inherited(klass), checks || []]
        end

        private

        # Whether a struct class has no such helper of its own.
        def plain?(klass)
          HELPERS.all? do |name, helpers|
            mod = Thrift.const_get(name, false)
            !(klass < mod) || helpers.all? { |helper| stock?(klass.instance_method(helper), mod, name) }
          end
        end

        def stock?(method, mod, name)
          file, = method.source_location
          method.owner == mod && method.name == method.original_name && !file.nil? &&
            file.end_with?("/thrift/#{name.downcase}.rb")
        end

        # Nothing lies between the class and the thrift gem's modules, whose methods are ours.
        def inherited(klass)
          own = klass.ancestors.take_while { |mod| !mod.equal?(::Object) }
          return 0 unless [[Thrift::Struct, Thrift::Struct_Union], [Thrift::Struct_Union, Thrift::Struct]].include?(own.drop(1))

          INHERITED.sum { |name, bit| Stock.own_method?(klass, name) ? 0 : bit }
        end
      end
    end
  end
end
