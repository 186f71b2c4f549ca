# frozen_string_literal: true

module Thrift
  module Native
    # Knows the +validate+ that the Thrift compiler wrote into a struct class: it only looks whether required fields are
    # set and enums have known values. C looks at that without a call into Ruby, and calls the method to raise. It does
    # so until another +validate+ takes its place.
    #
    # Known is what Ruby's compiler makes the same instructions of: the checks are guessed from the literals in the
    # method, then written out as the Thrift compiler would, compiled and compared.
    module Validation
      REQUIRED = /\ARequired field (\w+) is unset!\z/.freeze
      ENUM = /\AInvalid value of field (\w+)!\z/.freeze

      # The types of exception that compilers up to 0.22 and later ones write.
      TYPES = [:UNKNOWN, :INVALID_DATA].freeze

      # What one line of a +validate+ looks at: +kind+ is :set (neither nil nor false), :given (not nil) or :enum, whose
      # +mod+ has the constant VALID_VALUES. (The name of the module is taken to lead to it for good: code that is
      # loaded anew brings a new +validate+.)
      Check = ::Struct.new(:kind, :name, :mod)

      class << self
        # What the class's own +validate+ does: nil if that isn't known, or another one is called.
        #
        # @param klass [Class]
        # @return [Array<Array>, nil] see Check
        def checks(klass)
          return unless klass.ancestors.first == klass && Stock.own_method?(klass, :validate)

          recognise(klass.instance_method(:validate), klass.const_get(:FIELDS))&.map(&:to_a)
        rescue ::StandardError, ::ScriptError, ::SystemStackError
          nil
        end

        # The checks of a method that the Thrift compiler wrote, or nil.
        #
        # @param method [UnboundMethod]
        # @param fields [Hash] the class's FIELDS
        # @return [Array<Check>, nil]
        def recognise(method, fields)
          return unless defined?(::RubyVM::InstructionSequence)

          found = ::RubyVM::InstructionSequence.of(method) or return
          found = essence(found.to_a)
          checks = guess(found, fields) or return
          checks if found == expected(checks, found)
        end

        private

        def guess(instructions, fields)
          infos = fields.values.map { |info| [info[:name], info] }.to_h
          checks = literals(instructions).map { |text| guess_one(text, infos) }
          checks unless checks.include?(nil)
        end

        def guess_one(text, infos)
          name = text[REQUIRED, 1] || text[ENUM, 1]
          info = infos[name] or return
          return Check.new(info[:type] == Types::BOOL ? :given : :set, name, nil) if REQUIRED.match?(text)

          mod = info[:enum_class]
          Check.new(:enum, name,
                    mod) if mod.instance_of?(::Module) && mod.name && ::Object.const_get(mod.name).equal?(mod)
        end

        def literals(instructions)
          putting = instructions.last.grep(Array).select { |name, _| [:putstring, :putobject].include?(name) }
          putting.map { |_, value| value }.grep(String)
        end

        # What the Thrift compiler would have made these checks of.
        def expected(checks, found)
          return @empty ||= essence(compile("", false)) if checks.empty?

          instructions = found.last.grep(Array)
          types = instructions.map { |instruction| instruction.flatten & TYPES }.flatten
          frozen = instructions.any? { |name, value| name == :putobject && value.is_a?(String) }
          essence(compile(checks.zip(types).map { |check, type| source(check, type) }.join, frozen))
        end

        # As the Thrift compiler writes it.
        def source(check, type)
          ivar = "@#{check.name}"
          case check.kind
          when :set then "#{raising(type, "Required field #{check.name} is unset!")} unless #{ivar}\n"
          when :given then "#{raising(type, "Required field #{check.name} is unset!")} if #{ivar}.nil?\n"
          else
            "unless #{ivar}.nil? || ::#{check.mod.name}::VALID_VALUES.include?(#{ivar})\n" \
            "#{raising(type, "Invalid value of field #{check.name}!")}\nend\n"
          end
        end

        def raising(type, message)
          "raise ::Thrift::ProtocolException.new(::Thrift::ProtocolException::#{type}, '#{message}')"
        end

        # The instructions of a +validate+ with this body.
        def compile(text, frozen)
          text = "def validate\n#{text}end\n"
          all = ::RubyVM::InstructionSequence.compile(text, frozen_string_literal: frozen).to_a
          all.last.grep(Array).flatten(1).find { |part| part.is_a?(Array) && part.first == all.first }
        end

        # All but the places in the source file: kind, locals, arguments, exception table, instructions and jumps.
        def essence(parts)
          [*parts.values_at(5, 9, 10, 11, 12), parts.last.reject { |part| part.is_a?(Integer) || event?(part) }]
        end

        def event?(part)
          part.is_a?(Symbol) && part.start_with?("RUBY_EVENT")
        end
      end
    end
  end
end
