# frozen_string_literal: true

require "digest/sha2"
require "thrift/native/digests"

module Thrift
  module Native
    # Whether a class is, to the letter, what a known release of thrift made it. If a program, another gem, a fork or
    # a later release changed it, ours could undo that change, so the class is left alone.
    module Stock
      # The methods that thrift's own extension puts into these classes. C methods have no source location.
      IN_C = {
        "Struct" => /\A(?:read|write)\z/,
        "Union" => /\A(?:read|write)\z/,
        "MemoryBufferTransport" => /\A(?:read|write)(?:_\w+)?\z/,
        "BinaryProtocolAccelerated" => /\A(?:native\?|(?:read|write)(?:_\w+)?)\z/,
        "CompactProtocol" => /\A(?:native\?|(?:read|write)(?:_\w+)?)\z/
      }.freeze
      # The class that has no other methods, and no source in Ruby.
      ALL_IN_C = "Thrift::BinaryProtocolAccelerated"

      class << self
        # Why the class of this row can't be replaced; nil if it can. +names+ are the methods that would be.
        def objection(row, names)
          return "this thrift has no such class" unless Thrift.const_defined?(row.name, false)

          klass = Thrift.const_get(row.name, false)
          unknown_source(klass, "thrift/#{row.source}.rb") || mixed_in(klass, names) || patched(klass, names)
        end

        # Whether the class itself, not an ancestor, has this method.
        def own_method?(klass, name)
          klass.method_defined?(name, false) || klass.private_method_defined?(name, false)
        rescue ArgumentError # Ruby 2.5 has no second argument
          own_methods(klass).include?(name)
        end

        # The file that made this class; nil if unknown.
        def source_file(klass)
          if Object.respond_to?(:const_source_location)
            file, = Object.const_source_location(klass.name)
            return file
          end

          # Ruby 2.6: most of its methods come from there.
          files = own_methods(klass).map { |name| klass.instance_method(name).source_location }.compact.map(&:first)
          files.max_by { |path| files.count(path) }
        end

        private

        def own_methods(klass)
          klass.instance_methods(false) + klass.private_instance_methods(false)
        end

        # The class and its superclasses below Object; a module is alone.
        def lineage(klass)
          return [klass] unless klass.is_a?(Class)

          klass.ancestors.grep(Class) - Object.ancestors
        end

        def unknown_source(klass, expected)
          lineage(klass).each do |ancestor|
            next if made_in_c?(ancestor)

            file = source_file(ancestor) || (return "nothing tells which file made #{ancestor}")
            known = ancestor == klass ? expected : DIGESTS.keys.find { |path| file.end_with?("/#{path}") }
            unless DIGESTS.fetch(known, []).include?(digest(file))
              return "#{file} is not of a thrift release that we know"
            end
          end
          nil
        end

        # Ruby says which extension was being loaded, if it says anything.
        def made_in_c?(klass)
          klass.name == ALL_IN_C && [nil,
                                     "thrift_native"].include?((file = source_file(klass)) && File.basename(file, ".*"))
        end

        def digest(file)
          @digests ||= {}
          @digests[file] ||= Digest::SHA256.hexdigest(File.binread(file))
        rescue SystemCallError
          nil
        end

        # Modules that somebody put into the class: before it, they hide ours; behind it, what it inherits.
        def mixed_in(klass, names)
          family = lineage(klass)
          ancestors = klass.ancestors - Object.ancestors
          return "#{ancestors.first} is prepended" unless ancestors.first == klass

          (ancestors - family).each do |mod|
            next if original?(mod)

            name = own_methods(mod).find { |method| matters?(family, method, names) }
            return "#{mod}##{name} comes in between" if name
          end
          nil
        end

        # A module of thrift's own, as ProtocolDecorator is.
        def original?(mod)
          file = mod.name.to_s.start_with?("Thrift::") && source_file(mod)
          known = file && DIGESTS.keys.find { |path| file.end_with?("/#{path}") }
          known && DIGESTS[known].include?(digest(file)) && own_methods(mod).all? { |name| from_source?(mod, name) }
        end

        # Methods in the class, or in what it inherits from, that don't come from thrift's own source file. One that
        # neither thrift nor we have ever heard of harms nobody.
        def patched(klass, names)
          family = lineage(klass)
          family.each do |ancestor|
            own_methods(ancestor).each do |name|
              next if from_source?(ancestor, name) || !matters?(family, name, names)

              where = ancestor.instance_method(name).source_location
              return "#{ancestor}##{name} was changed before us#{" in #{where.join(":")}" if where}"
            end
          end
          nil
        end

        def from_source?(klass, name)
          method = klass.instance_method(name)
          file, = method.source_location
          return IN_C.key?(klass.name.split("::").last) && IN_C[klass.name.split("::").last].match?(name) unless file

          file == source_file(klass) && (method.original_name == name || aliased?(file, name, method.original_name))
        end

        # Somebody else's alias of a method of thrift's has thrift's source location, too.
        def aliased?(file, name, original)
          names = [name, original].map { |one| ":?#{Regexp.escape(one)}" }
          source(file).match?(/\balias(?:_method)?\s+#{names.join("\\s*,?\\s+")}(?!\w)/)
        end

        def matters?(family, name, names)
          names.include?(name) || family.any? { |klass| mentioned?(source_file(klass), name) }
        end

        def mentioned?(file, name)
          !file.nil? && source(file).match?(/(?<!\w)#{Regexp.escape(name)}(?!\w)/)
        end

        def source(file)
          @sources ||= {}
          @sources[file] ||= File.binread(file)
        end
      end
    end
  end
end
