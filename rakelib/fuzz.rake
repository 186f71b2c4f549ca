# frozen_string_literal: true

require "rbconfig"
require "shellwords"

# libFuzzer (clang, libclang-rt-14-dev) with Ruby inside. Our extension is built for it in tmp/fuzz, with coverage and
# with AddressSanitizer and UndefinedBehaviorSanitizer.
module FuzzBuild
  ROOT = File.expand_path("..", __dir__)
  HOME = File.join(ROOT, "tmp/fuzz")
  # No checks of the stack: Ruby leaves it by longjmp, of which AddressSanitizer hears nothing.
  CHECKS = "-fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=undefined -fno-sanitize=function " \
           "-mllvm -asan-stack=0"

  class << self
    include Rake::FileUtilsExt

    def build
      mkdir_p(HOME, verbose: false)
      extension
      driver
    end

    # Seconds of fuzzing; what was found is in tmp/fuzz, new ways through the code are in tmp/fuzz/corpus.
    def run(seconds)
      work = File.join(HOME, "corpus")
      mkdir_p(work, verbose: false)
      Dir.chdir(HOME) do
        sh(environment, "./driver", "-max_total_time=#{seconds}", "-max_len=600", "-timeout=20", "-rss_limit_mb=0",
           "-detect_leaks=0", "-print_final_stats=1", work, File.join(ROOT, "fuzz/corpus"))
      end
    end

    # Keeps few small files that reach what tmp/fuzz/corpus reaches.
    def minimize
      kept = File.join(ROOT, "fuzz/corpus")
      Dir.chdir(HOME) do
        sh(environment, "./driver", "-merge=1", "-use_counters=0", "-max_len=300", "-detect_leaks=0", "-rss_limit_mb=0",
           kept, File.join(HOME, "corpus"))
      end
    end

    # Whole files of specs, in the driver instead of `ruby`: in Ruby's own program there is no AddressSanitizer.
    def check
      version = Gem.loaded_specs.fetch("thrift").version.to_s
      runs = %w[classes writing reading protocols].map { |name| ["spec/habits/#{name}.rb", [version]] }
      runs += %w[valid wrong broken].map { |mode|
        ["spec/parity/run.rb", [mode, version, "1", mode == "broken" ? "3" : "30"]]
      }
      runs.each do |file, arguments|
        code = "ARGV.replace(#{arguments.inspect}); load #{File.join(ROOT, file).inspect}; nil"
        sh(environment("def gem(*); end; #{code}").merge("HABITS_NATIVE" => "1", "PARITY_NATIVE" => "1", "PARITY_UUID" => "1"),
           File.join(HOME, "driver"), "-runs=0", "-detect_leaks=0", out: File::NULL)
      end
    end

    private

    def extension
      Dir.chdir(HOME) do
        sh(RbConfig.ruby, File.join(ROOT, "ext/thrift_native/extconf.rb"),
           out: File::NULL) unless File.file?("Makefile")
        sh("make", "-s", "CC=clang", "CFLAGS=-O1 -g -fPIC -std=gnu99 -fvisibility=hidden #{CHECKS}")
        mkdir_p("lib/thrift_native", verbose: false)
        cp("thrift_native_ext.so", "lib/thrift_native", verbose: false)
      end
    end

    def driver
      config = RbConfig::CONFIG
      library = "#{`clang -print-resource-dir`.chomp}/lib/linux/libclang_rt.fuzzer_no_main-#{config["target_cpu"]}.a"
      sh("clang", "-O1", "-g", *CHECKS.split, "-rdynamic", "-I#{config["rubyhdrdir"]}", "-I#{config["rubyarchhdrdir"]}",
         File.join(ROOT, "fuzz/fuzz.c"), library, *Shellwords.split(config["LIBRUBYARG_SHARED"]), "-L#{config["libdir"]}",
         "-lstdc++", "-lm", "-lpthread", "-o", File.join(HOME, "driver"))
    end

    def environment(code = "require #{File.join(ROOT, "fuzz/target.rb").inspect}; Fuzz")
      paths = [File.join(HOME, "lib"), File.join(ROOT, "lib"), *$LOAD_PATH.grep(%r{/thrift-\d[^/]*(?:/|\z)})]
      setup = "$LOAD_PATH.unshift(*#{paths.inspect}); require 'thrift/native'; " \
              "raise 'not native' unless Thrift::Native.status[Thrift::Struct].state == :native; #{code}"
      { "FUZZ_SETUP" => setup, "RUBYOPT" => nil,
        "ASAN_OPTIONS" => "detect_leaks=0:detect_stack_use_after_return=0:handle_segv=0" }
    end
  end
end

desc "Fuzz reading for FUZZ_SECONDS (60); needs clang and libFuzzer"
task(:fuzz) do
  FuzzBuild.build
  FuzzBuild.run(Integer(ENV.fetch("FUZZ_SECONDS", "60")))
end

desc "What programs do with structs, and random values, with AddressSanitizer and UndefinedBehaviorSanitizer; needs clang"
task(:sanitize) do
  FuzzBuild.build
  FuzzBuild.check
end

desc "Take new ways through the code from tmp/fuzz/corpus into fuzz/corpus"
task("fuzz:minimize") { FuzzBuild.minimize }
