# frozen_string_literal: true

require "rbconfig"

module Thrift
  module Native
    # Loads the two extensions: thrift's own, in whose way our lib/thrift_native.rb is, and ours.
    module Extensions
      class << self
        # Why our extension isn't loaded; nil if it is.
        attr_reader :missing

        # Loads thrift's own extension unless it's there. Without it, warns as thrift does.
        def load_stock
          return if stock?

          file = stock_files.find { |path| File.file?(path) }
          return quietly { require file } if file

          # Where thrift has no extension it is no news.
          warn "thrift_native: thrift's own extension is not there; thrift runs in pure Ruby" if RUBY_ENGINE == "ruby"
        rescue LoadError => e
          warn "thrift_native: thrift's own extension can't be loaded (#{e.message}); thrift runs in pure Ruby"
        end

        # Whether thrift's own extension is loaded. Only it defines this class.
        def stock?
          Thrift.const_defined?(:BinaryProtocolAccelerated, false)
        end

        # Loads our extension. Returns whether it's there.
        def load_native
          return loaded? if @tried

          @tried = true
          if ENV["THRIFT_NATIVE_PURE"] == "1"
            @missing = "THRIFT_NATIVE_PURE=1"
            return false
          end

          require "thrift_native/thrift_native_ext"
          true
        rescue LoadError => e
          @missing = missing_reason(e)
          false
        end

        # Whether our extension is loaded.
        def loaded?
          Native.const_defined?(:Ext, false)
        end

        private

        # Ruby -w has a hundred words about what thrift's extension redefines, and none is news to anybody.
        def quietly
          verbose = $VERBOSE
          $VERBOSE = nil
          yield
        ensure
          $VERBOSE = verbose
        end

        # Where thrift's own require would look, in its order, and then where RubyGems says that the gem is.
        def stock_files
          spec = Gem.loaded_specs["thrift"] if defined?(Gem)
          name = "thrift_native.#{RbConfig::CONFIG["DLEXT"]}"
          ($LOAD_PATH + (spec ? spec.full_require_paths : [])).map { |dir| File.expand_path(name, dir.to_s) }
        end

        def missing_reason(error)
          return "not built" if error.path.to_s.end_with?("thrift_native_ext")

          warn "thrift_native: the extension can't be loaded: #{error.message}"
          error.message
        end
      end
    end
  end
end
