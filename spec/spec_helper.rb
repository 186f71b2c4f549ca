# frozen_string_literal: true

# GC_STRESS=1   every example of spec/ext runs under GC.stress
# TN_COMPACT=1  the whole suite runs under GC.auto_compact

# Older releases of thrift aren't clean under -w.
begin
  verbose = $VERBOSE
  $VERBOSE = nil
  require "thrift"
ensure
  $VERBOSE = verbose
end
require "thrift/native"

# What several spec files use.
module SpecHelpers
  # The extension is loaded; otherwise the specs of the C code have nothing to look at.
  def self.native?
    Thrift::Native::Extensions.loaded?
  end

  def gc_stress
    before = GC.stress
    GC.stress = true
    yield
  ensure
    GC.stress = before
  end

  # Moves every object that can be moved, and crashes if somebody kept an old address.
  def compact
    return unless GC.respond_to?(:verify_compaction_references)

    # Renamed in Ruby 3.2
    grow = GC.method(:verify_compaction_references).parameters.assoc(:key)
    GC.verify_compaction_references(toward: :empty, **(grow && grow.last == :double_heap ? { double_heap: true } : {}))
  rescue NotImplementedError
    nil
  end

  # The installed thrift gem is at least this version.
  def self.thrift?(version)
    Gem.loaded_specs.fetch("thrift").version >= Gem::Version.new(version)
  end
end

RSpec.configure do |config|
  config.expect_with(:rspec) { |expectations| expectations.syntax = :expect }
  config.mock_with(:rspec) { |mocks| mocks.verify_partial_doubles = true }
  config.disable_monkey_patching!
  config.raise_errors_for_deprecations!
  config.filter_run_when_matching :focus
  config.example_status_persistence_file_path = "tmp/examples.txt"
  config.order = :random
  Kernel.srand config.seed
  config.include SpecHelpers

  config.define_derived_metadata(file_path: %r{/spec/ext/}) { |metadata| metadata[:ext] = true }
  config.before(:example, :ext) { skip "no extension" unless SpecHelpers.native? }
  config.around(:example, :ext) { |example| gc_stress { example.run } } if ENV["GC_STRESS"] == "1"

  config.before(:suite) do
    GC.auto_compact = true if ENV["TN_COMPACT"] == "1"
    Object.new.extend(SpecHelpers).compact
  end
end
