# frozen_string_literal: true

require "rbconfig"

desc "SOAK_MESSAGES (1000000) messages, written and read in all ways; memory may not grow"
task(soak: :compile) { ruby "-Ilib", "spec/soak.rb", ENV.fetch("SOAK_MESSAGES", "1000000") }

desc "What programs do with structs, and the fuzzer's corpus, under valgrind"
task(valgrind: :compile) do
  version = Gem.loaded_specs.fetch("thrift").version.to_s
  # Whether a value is one that was set isn't looked at: Ruby's collector reads all of the stack.
  valgrind = %w[valgrind --quiet --error-exitcode=9 --undef-value-errors=no --suppressions=spec/support/valgrind.supp]
  %w[classes writing reading protocols].each do |file|
    code = "ARGV.replace([#{version.inspect}]); load 'spec/habits/#{file}.rb'"
    sh({ "HABITS_NATIVE" => "1" }, *valgrind, RbConfig.ruby, "-W0", "-Ilib", "-e", code, out: File::NULL)
  end
  sh(*valgrind, RbConfig.ruby, "-W0", "-Ilib", "-e", "require 'thrift/native'; load 'fuzz/replay.rb'", out: File::NULL)
end
