# frozen_string_literal: true

require "bundler"
require "fileutils"
require "json"
require "tmpdir"
require "yaml"
require_relative "../support/certificates"
require_relative "../support/child"
require_relative "../support/generated_code"

module Upstream
  # The thrift gem's own specs, run in a child process, stock or with ours loaded.
  class Suite
    # The last release whose gem holds its specs; later ones are run with these.
    LAST_WITH_SPECS = "0.24.0"
    TIMEOUT = 90

    # Fails an example that hangs, which else would take all others with it. Counts ticks: the specs mock the clock.
    WATCHDOG = <<~'RUBY'
      watched = nil
      RSpec.configure do |config|
        config.prepend_before { |example| watched = [example.id, 0] }
        config.append_after { watched = nil }
      end
      Thread.new do
        loop do
          sleep 1
          current = watched
          next unless current && (current[1] += 1) == 15

          Thread.main.raise("hangs: #{current[0]}")
        end
      end
    RUBY

    # @!attribute [r] examples [Hash{String => String}] "file: description" => "passed", "failed" or "pending"
    # @!attribute [r] messages [Hash{String => String}] why an example failed
    Run = Struct.new(:examples, :messages)

    # @return [String] version of the thrift gem under test
    attr_reader :version

    def initialize(version)
      @version = version
      @runs = {}
    end

    # @return [Array<String>] names of the spec files that are run
    def files
      @files ||= Dir[File.join(source, "*_spec.rb")].map { |file| File.basename(file) }.sort - not_run.keys
    end

    # @return [Hash{String => String}] spec file that can't be run => reason
    def not_run
      known.fetch("not run")
    end

    # @return [Hash{String => String}] example that fails with the stock gem => reason
    def failing
      entries("failing")
    end

    # @return [Hash{String => String}] example that passes or fails by chance => reason
    def flaky
      entries("flaky")
    end

    # @return [Hash{String => String}] example that passes stock and fails with ours on purpose => reason
    def different
      entries("different")
    end

    # @param native [Boolean] ours loaded?
    # @return [Run]
    def run(native:)
      # What went wrong as well: it would take as long again for each spec file.
      @runs[native] ||= begin
        run_in_child(native)
      rescue StandardError => e
        e
      end
      raise @runs[native] if @runs[native].is_a?(StandardError)

      @runs[native]
    end

    private

    def entries(kind)
      applying = known.fetch(kind).select do |entry|
        satisfies?(entry.fetch("versions"), version) && satisfies?(entry.fetch("ruby", ">= 0"), RUBY_VERSION)
      end
      applying.flat_map { |entry| entry.fetch("examples").map { |name| [name, entry.fetch("reason")] } }.to_h
    end

    def satisfies?(requirement, version)
      Gem::Requirement.new(requirement.split(", ")).satisfied_by?(Gem::Version.new(version))
    end

    def known
      @known ||= YAML.load_file(File.join(__dir__, "known_failures.yml"))
    end

    # @return [String] the specs' directory; of the newest gem that has one if this version's has none
    def source
      [version, LAST_WITH_SPECS].each do |candidate|
        dir = Gem.path.map { |path| File.join(path, "gems", "thrift-#{candidate}", "spec") }.find { |d| Dir.exist?(d) }
        return dir if dir
      end
      fetch_source
    end

    # Not installed beside the version under test: from the package itself, which RubyGems fetches.
    def fetch_source
      dir = File.expand_path("../../tmp/upstream", __dir__)
      gem_dir = File.join(dir, "thrift-#{LAST_WITH_SPECS}")
      unless Dir.exist?(File.join(gem_dir, "spec"))
        FileUtils.mkdir_p(dir)
        Bundler.with_unbundled_env do
          Dir.chdir(dir) do
            system("gem", "fetch", "thrift", "-v", LAST_WITH_SPECS, "--quiet", exception: true)
            system("gem", "unpack", "thrift-#{LAST_WITH_SPECS}.gem", "--quiet", exception: true)
          end
        end
      end
      File.join(gem_dir, "spec")
    end

    def run_in_child(native)
      Dir.mktmpdir("upstream") do |top|
        dir = File.join(top, "lib", "rb")
        prepare(top, dir)
        report = File.join(dir, "report.json")
        result = one_at_a_time { child(dir, report, native) }
        raise "the thrift gem's specs did not run: #{tail(result)}" unless File.size?(report)

        parse(JSON.parse(File.read(report)), result)
      end
    end

    # The tree that the specs expect around them: generated code, and keys far above.
    def prepare(top, dir)
      FileUtils.mkdir_p(dir)
      FileUtils.cp_r(source, File.join(dir, "spec"))
      FileUtils.cp_r(File.join(__dir__, "fixtures", GeneratedCode.form, "."), dir)
      write_keys(File.join(top, "test", "keys"))
      adaptations.each do |name, changes|
        file = File.join(dir, "spec", name)
        text = changes.inject(File.read(file)) do |old, (from, to)|
          raise "#{name} has no #{from.inspect}" unless old.include?(from)

          old.gsub(from, to)
        end
        File.write(file, text)
      end
    end

    def write_keys(dir)
      FileUtils.mkdir_p(dir)
      File.write(File.join(dir, "CA.pem"), Certificates.authority.cert.to_pem)
      { "server" => Certificates.server(kind: :rsa), "client" => Certificates.client(kind: :rsa) }.each do |name, pair|
        File.write(File.join(dir, "#{name}.crt"), pair.cert.to_pem)
        # Handed over as a trusted authority.
        File.write(File.join(dir, "#{name}.pem"), Certificates.authority.cert.to_pem)
        File.write(File.join(dir, "#{name}.key"), pair.key.to_pem)
      end
    end

    # What must change in specs of an older release, so that its doubles answer what the newer code asks.
    def adaptations
      known.fetch("adapted")[version] || {}
    end

    # Without Bundler, whose load path would hold ours in the stock run as well.
    def child(dir, report, native)
      code = <<~RUBY
        gem "thrift", #{version.inspect}
        gem "rspec-core", #{RSpec::Core::Version::STRING.inspect}
        require "#{native ? "thrift/native" : "thrift"}"
        abort "ours is #{native ? "not " : ""}loaded" unless defined?(Thrift::Native::Install).nil? == #{!native}
        require "rspec/core"
        #{WATCHDOG}
        $LOAD_PATH.unshift("spec")
        exit RSpec::Core::Runner.run(ARGV)
      RUBY
      args = %w[--order defined -O /dev/null --format json --out] + [report, *files.map { |f| "spec/#{f}" }]
      env = { "GEM_PATH" => Gem.path.join(File::PATH_SEPARATOR), "THRIFT_NATIVE" => nil }
      options = native ? ["-I", Child::LIB] : []
      Bundler.with_unbundled_env do
        Child.run(code, args: args, env: env, options: options, chdir: dir, timeout: TIMEOUT)
      end
    end

    # They listen on a fixed port.
    def one_at_a_time
      File.open(File.join(Dir.tmpdir, "thrift_native-upstream-#{Process.uid}.lock"), File::CREAT | File::RDWR) do |lock|
        lock.flock(File::LOCK_EX)
        yield
      end
    end

    def tail(result)
      result.to_s.lines.last(15).join
    end

    def parse(report, result)
      if report.fetch("summary").fetch("errors_outside_of_examples_count", 0) > 0
        raise "a spec file of the thrift gem did not load: #{report["messages"]} #{tail(result)}"
      end

      run = Run.new({}, {})
      report.fetch("examples").each do |example|
        # Shared examples have the file they are used in; the same description may occur twice.
        name = "#{File.basename(example.fetch("id")[/\A[^\[]+/])}: #{example.fetch("full_description")}"
        name += " (again)" while run.examples.key?(name)
        run.examples[name] = example.fetch("status")
        run.messages[name] = example.dig("exception", "message").to_s
      end
      run
    end
  end
end
