# frozen_string_literal: true

require "bundler"
require "fileutils"
require_relative "../support/child"

# Runs spec/parity/run.rb, which makes random classes and values and tells what becomes of them, in a process with the
# thrift gem alone and in one with ours, and compares line by line.
#
# What is valid must come out as with the thrift gem that is installed; what is wrong, or was broken on the way, as with
# 0.25, whichever is installed.
module Parity
  STRICTEST = "0.25.0"
  RUN = File.expand_path("run.rb", __dir__)
  # What is made and compared, and what is refused as that release's own specs want it, is as with the installed thrift.
  OWN = /\A\S+ (?:new|==|hash)\t|\t(?:RuntimeError|Thrift::ProtocolException) \d* "set_field is not valid/.freeze
  # So is what makes sense after all.
  REFUSAL = /\t[A-Z]\S+ \d* "/.freeze
  # Over a transport of the program's own the installed thrift's structs are read by its own code.
  FOREIGN = /\A\S+ \S+ foreign /.freeze

  class << self
    # @return [String] version of the thrift gem under test
    def version
      Gem.loaded_specs.fetch("thrift").version.to_s
    end

    # @return [String, nil] why there is nothing to compare what is wrong with
    def lacking
      return if version == STRICTEST || RUBY_VERSION >= "3.0"

      "thrift #{STRICTEST} needs Ruby 3.0"
    end

    # @param mode [String] valid, wrong or broken
    # @param first [Integer] seed
    # @param count [Integer] of seeds
    # @param gc [String, nil] stress or compact, on our side
    # @param rounds [Integer, nil] values of each seed
    # @yieldparam lines [Integer] that were compared
    # @return [Array<String>] lines that differ, with what was expected; empty if none do
    def differences(mode, first, count, gc: nil, rounds: nil)
      @env = { "PARITY_ROUNDS" => rounds&.to_s, "PARITY_GC" => nil }
      own = mode == "valid" || version == STRICTEST
      expected = run(mode, first, count, version: own ? version : STRICTEST)
      others = own ? expected : run(mode, first, count, version: version)
      found = run(mode, first, count, version: version, native: true, gc: gc)
      yield found.size
      return ["#{expected.size} lines expected, #{found.size} found"] unless expected.size == found.size

      different = expected.zip(others, found).reject do |line, other, ours|
        same?(line, other, ours) || (!own && mode == "broken" && line.match?(FOREIGN))
      end
      different.map { |line, _, ours| "#{line}  -- but --  #{ours}" }
    end

    # @return [String] GEM_PATH for the version under test, or for the strictest one, which is installed for that
    def gem_path(wanted)
      return Gem.path.join(File::PATH_SEPARATOR) if wanted == version

      home = File.expand_path("../../tmp/parity/ruby-#{RUBY_VERSION}", __dir__)
      install(home) unless Dir.exist?(File.join(home, "gems", "thrift-#{STRICTEST}"))
      home
    end

    private

    # As with the strictest thrift, or as with the installed one where that refuses nothing, or has its own way.
    def same?(strictest, own, ours)
      ours == strictest || (ours == own && (own.match?(OWN) || !own.match?(REFUSAL)))
    end

    def run(mode, first, count, version:, native: false, gc: nil)
      env = { "GEM_PATH" => gem_path(version), "GEM_HOME" => nil, "PARITY_NATIVE" => native ? "1" : "0",
              "PARITY_UUID" => since?("0.24.0") ? "1" : "0", "PARITY_CLIPS" => since?("0.24.0") ? "0" : "1", "THRIFT_NATIVE" => nil, "THRIFT_NATIVE_SKIP" => nil, **@env,
              "PARITY_GC" => gc }
      result = Bundler.with_unbundled_env do
        Child.run("ARGV.replace(#{[mode, version, first.to_s, count.to_s].inspect}); load #{RUN.inspect}",
                  options: native ? ["-I", Child::LIB] : [], env: env, timeout: 300)
      end
      raise "#{mode} with thrift #{version}: #{result.status}, #{result.err[0, 2000]}" unless result.success?

      result.out.gsub(" (max_string_size)\"", "\"").lines # where thrift has no limit of its own ours says how to change it
    end

    # 0.23 knows uuid, and reads and writes it in part.
    def since?(release)
      Gem::Version.new(version) >= Gem::Version.new(release)
    end

    # Beside the version under test there can't be another one.
    def install(home)
      FileUtils.mkdir_p(home)
      Bundler.with_unbundled_env do
        system("gem", "install", "thrift", "-v", STRICTEST, "--install-dir", home, "--no-document", "--quiet",
               out: File::NULL, exception: true)
      end
    end
  end
end
