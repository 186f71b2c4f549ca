# frozen_string_literal: true

# The thrift gem's own extension has this very name, and on one load path a .rb comes before a .so. So this file is
# reached in two ways:
#
# * Half-way through thrift.rb, whose last line wants thrift's extension (Bundler, bootsnap, -I, or RubyGems once our
#   gem is active). Then thrift's extension has to be loaded from here, or it never is.
# * By Bundler's automatic require, or by `require "thrift_native"` under Bundler. Then thrift is loaded first.
#
# With plain RubyGems `require "thrift_native"` is thrift's own file; `require "thrift/native"` works everywhere.

unless caller_locations.any? { |frame| frame.path.to_s.end_with?("/thrift/thrift_native.rb") }
  # thrift.rb will require this name, which is being loaded right now: say that it's there, so that no circular
  # require is seen. Ruby adds the entry again when this file ends.
  $LOADED_FEATURES << __FILE__
  begin
    require "thrift"
  ensure
    $LOADED_FEATURES.delete(__FILE__)
  end
end

require "thrift/native/install"

Thrift::Native::Install.run
