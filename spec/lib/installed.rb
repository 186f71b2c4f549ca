# frozen_string_literal: true

require "digest/sha2"
require "fileutils"
require "open3"
require "tmpdir"
require_relative "../support/child"

# Our gem and the thrift gem of this bundle, really installed by RubyGems in a GEM_HOME of their own. It's built once
# for each state of our sources, and kept in tmp/ for the next run.
module Installed
  ROOT = File.expand_path("../..", __dir__)
  THRIFT = Gem.loaded_specs.fetch("thrift")
  # Nothing of the bundle that these specs run in may reach a child.
  CLEAN = %w[
    BUNDLE_BIN_PATH BUNDLE_GEMFILE BUNDLER_SETUP BUNDLER_VERSION GEM_PATH RUBYLIB RUBYOPT
    THRIFT_NATIVE THRIFT_NATIVE_PURE THRIFT_NATIVE_SKIP THRIFT_VERSION
  ].to_h { |name| [name, nil] }.freeze

  class << self
    # The GEM_HOME. `pure: true`: our gem was installed with THRIFT_NATIVE_PURE=1, as it also is where this very suite
    # runs without the extension.
    def home(pure: !SpecHelpers.native?)
      @homes ||= {}
      @homes[pure] ||= prepared("#{pure ? "pure" : "native"}-#{THRIFT.version}-#{sources_digest}") do |dir|
        install(dir, [*gem_files(THRIFT), *gem_files(Gem.loaded_specs["bootsnap"]), built_gem(dir)], pure)
      end
    end

    # Runs Ruby code with the installed gems; see Child.run.
    def run(code, env: {}, pure: !SpecHelpers.native?, **how)
      Child.run(code, options: [], timeout: 60, env: environment(pure).merge(env), **how)
    end

    def environment(pure)
      CLEAN.merge("GEM_HOME" => home(pure: pure), "GEM_PATH" => home(pure: pure))
    end

    # Yields the directory of a program with this Gemfile.
    def with_gemfile(*lines)
      Dir.mktmpdir do |dir|
        File.write("#{dir}/Gemfile", ["source Gem.sources.to_a.first.to_s", *lines, ""].join("\n"))
        yield dir
      end
    end

    # The same thrift, its extension included, on load paths alone.
    def thrift_paths
      THRIFT.full_require_paths
    end

    # What went to standard error, without what thrift and others say of their own files under -w.
    def own_words(err)
      err.lines.reject do |line|
        line.match?(%r{\A\S*/(?:gems|extensions|rubygems|ruby)/}) && !line.match?(/thrift_native-\d|circular/) ||
          line.match?(%r{\A\S*/gems/thrift-\d\S*: warning: (?!.*circular)})
      end.join
    end

    private

    def prepared(name)
      dir = "#{ROOT}/tmp/installed/#{name}"
      return dir if File.file?("#{dir}/complete")

      FileUtils.rm_rf(Dir["#{ROOT}/tmp/installed/#{name[/\A\w+-[\d.]+-/]}*"])
      FileUtils.mkdir_p(dir)
      yield dir
      FileUtils.touch("#{dir}/complete")
      dir
    end

    def sources_digest
      files = Dir["#{ROOT}/{ext,lib}/**/*.{c,h,rb}", "#{ROOT}/*.gemspec", __FILE__].sort
      parts = [RUBY_DESCRIPTION, *files.flat_map { |file| [file, File.binread(file)] }]
      Digest::SHA256.hexdigest(parts.join("\0"))[0, 16]
    end

    def built_gem(dir)
      gem("build", "thrift_native.gemspec", "--output", "#{dir}/thrift_native.gem")
      "#{dir}/thrift_native.gem"
    end

    # The .gem of a spec and of what it needs: out of RubyGems' cache, else fetched again.
    def gem_files(spec)
      return [] unless spec

      needed = spec.runtime_dependencies.map { |dependency| Gem.loaded_specs[dependency.name] }.compact
      needed.flat_map { |other| gem_files(other) } + (spec.default_gem? ? [] : [gem_file(spec)])
    end

    def gem_file(spec)
      return spec.cache_file if File.file?(spec.cache_file)

      fetched = "#{ROOT}/tmp/thrift/#{spec.full_name}.gem"
      FileUtils.mkdir_p(File.dirname(fetched))
      gem("fetch", spec.name, "--version", spec.version.to_s, chdir: File.dirname(fetched)) unless File.file?(fetched)
      fetched
    end

    def install(dir, files, pure)
      gem("install", "--local", "--ignore-dependencies", "--no-document", "--install-dir", dir, *files,
          env: pure ? { "THRIFT_NATIVE_PURE" => "1" } : {})
    end

    def gem(*command, env: {}, chdir: ROOT)
      output, status = Open3.capture2e(CLEAN.merge(env), Gem.ruby, "-S", "gem", *command, chdir: chdir)
      raise "gem #{command.join(" ")}: #{output}" unless status.success?
    end
  end
end
