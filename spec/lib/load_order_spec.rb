# frozen_string_literal: true

require_relative "installed"

# Every order in which a program may come to load us, each in a process of its own, with gems that are really installed.
RSpec.describe "Loading" do
  # One line on what the process has become.
  report = <<~'RUBY'
    native = Thrift::Native
    puts [
      "accelerated=#{Thrift.const_defined?(:BinaryProtocolAccelerated)}",
      "installed=#{native::Install.outcomes.size == native::Install::TABLE.size}",
      "extension=#{native.status.extension}",
      "changed=#{!native.status.to_h.values.all?(:stock)}",
      "their_extensions=#{$LOADED_FEATURES.grep(%r{/thrift_native\.(?:so|bundle)\z}).size}",
      "entries=#{$LOADED_FEATURES.grep(%r{/lib/thrift_native\.rb\z}).size}"
    ].join(" ")
  RUBY

  # The suite may run without the extension; then it's left out here as well.
  def loaded
    "extension=#{SpecHelpers.native? ? "loaded" : "(?:not built|THRIFT_NATIVE_PURE=1)"} changed=true"
  end

  def expect_loaded(result)
    expect(result).to be_success, result.to_s
    expect(result.out.lines.last)
      .to match(/\Aaccelerated=true installed=true #{loaded} their_extensions=1 entries=[01]$/)
    expect(Installed.own_words(result.err)).to eq("")
  end

  def expect_stock(result)
    expect(result).to be_success, result.to_s
    expect(result.out.lines.last)
      .to match(/\Aaccelerated=true installed=true extension=THRIFT_NATIVE=0 changed=false their_extensions=1 /)
    expect(Installed.own_words(result.err)).to eq("")
  end

  context "with plain RubyGems" do
    orders = {
      "thrift/native alone" => 'require "thrift/native"',
      "thrift/native after thrift" => 'require "thrift"; require "thrift/native"',
      "thrift/native before thrift" => 'require "thrift/native"; require "thrift"',
      "everything twice" => '2.times { require "thrift/native"; require "thrift"; require "thrift_native" }',
      "an activated gem" => 'gem "thrift_native"; require "thrift"',
      "an activated gem, by the colliding name" => 'gem "thrift_native"; require "thrift_native"'
    }
    orders.each do |name, code|
      it "takes #{name}, silently under -w" do
        expect_loaded(Installed.run(code + "\n" + report, env: { "RUBYOPT" => "-w" }))
      end

      it "loads thrift's extension alone with THRIFT_NATIVE=0, for #{name}" do
        expect_stock(Installed.run(code + "\n" + report, env: { "RUBYOPT" => "-w", "THRIFT_NATIVE" => "0" }))
      end
    end

    it "takes -rthrift/native on the command line" do
      expect_loaded(Installed.run(report, env: { "RUBYOPT" => "-w -rthrift/native" }))
    end

    it "leaves the bare name to thrift's own extension, which needs thrift first" do
      result = Installed.run('require "thrift_native"')

      expect(result).not_to be_success
      expect(result.err).to include("uninitialized constant Thrift (NameError)")
    end

    it "leaves the bare name to thrift's own extension, which has been loaded by thrift" do
      result = Installed.run('require "thrift"; p require("thrift_native"), defined?(Thrift::Native)')

      expect(result.out).to eq("false\nnil\n")
    end

    it "takes frozen string literals" do
      expect_loaded(Installed.run('require "thrift/native"' + "\n" + report, env: {
                                    "RUBYOPT" => "-w --enable=frozen-string-literal"
                                  }))
    end
  end

  context "with Bundler" do
    def bundled(gemfile, code, env = {}, setup: 'require "bundler/setup"')
      Installed.with_gemfile(*gemfile) do |dir|
        env = { "BUNDLE_GEMFILE" => "#{dir}/Gemfile", "RUBYOPT" => "-w" }.merge(env)
        return Installed.run("#{setup}\n#{code}", env: env, chdir: dir)
      end
    end

    automatic = ['gem "thrift_native"']
    by_hand = ['gem "thrift_native", require: false']
    orders = {
      "the automatic require" => [automatic, "Bundler.require"],
      "the automatic require, thrift first" => [['gem "thrift"', *automatic], "Bundler.require"],
      "the automatic require, thrift last" => [[*automatic, 'gem "thrift"'], "Bundler.require"],
      "require: false and thrift" => [by_hand, 'Bundler.require; require "thrift"'],
      "require: false and thrift/native" => [by_hand, 'Bundler.require; require "thrift/native"'],
      "require: false, thrift, thrift/native" => [by_hand, 'require "thrift"; require "thrift/native"'],
      "thrift_native" => [by_hand, 'require "thrift_native"'],
      "thrift_native before thrift" => [by_hand, 'require "thrift_native"; require "thrift"'],
      "thrift_native after thrift" => [by_hand, 'require "thrift"; require "thrift_native"'],
      "everything twice" => [automatic, 'Bundler.require; 2.times { require "thrift/native"; require "thrift_native" }']
    }
    orders.each do |name, (gemfile, code)|
      it "takes #{name}, silently under -w" do
        result = bundled(gemfile, code + "\n" + report)
        expect_loaded(result)
        # thrift's extension says a lot when thrift itself loads it.
        expect(result.err).not_to include("method redefined")
      end

      it "loads thrift's extension alone with THRIFT_NATIVE=0, for #{name}" do
        switched_off = code + "\nrequire 'thrift/native'\n" + report
        expect_stock(bundled(gemfile, switched_off, { "THRIFT_NATIVE" => "0" }))
      end

      it "takes #{name} through bootsnap, cold and warm" do
        Dir.mktmpdir do |cache|
          setup = <<~RUBY
            require "bundler/setup"
            require "bootsnap"
            Bootsnap.setup(cache_dir: #{cache.inspect}, development_mode: false, compile_cache_yaml: false)
          RUBY
          with_bootsnap = ['gem "bootsnap", require: false', *gemfile]
          2.times { expect_loaded(bundled(with_bootsnap, code + "\n" + report, setup: setup)) }
        end
      end
    end

    it "takes RUBYOPT=-rthrift/native beside Bundler's own" do
      expect_loaded(bundled(automatic, report, { "RUBYOPT" => "-w -rbundler/setup -rthrift/native" }))
    end

    it "takes frozen string literals" do
      expect_loaded(bundled(automatic, "Bundler.require\n" + report, {
                              "RUBYOPT" => "-w --enable=frozen-string-literal"
                            }))
    end
  end

  context "with load paths alone" do
    paths = [Child::LIB, *Installed.thrift_paths].map { |path| "-I#{path}" }

    ['require "thrift"', 'require "thrift/native"', 'require "thrift_native"'].each do |code|
      it "takes #{code}" do
        env = Installed::CLEAN.merge("THRIFT_NATIVE_PURE" => SpecHelpers.native? ? nil : "1")
        result = Child.run(code + "\n" + report, options: ["-w", *paths], env: env)
        expect_loaded(result)
      end
    end
  end

  # A frame written and read back through objects of both kinds.
  round_trip = <<~'RUBY'
    class Upper < Thrift::FramedTransport
      def write(bytes, *rest)
        super(bytes.upcase, *rest)
      end
    end

    def pass(transport)
      transport.write("hello".b)
      transport.flush
      transport.read(5)
    end
    OLD = [Thrift::FramedTransport, Upper].map { |made| made.new(Thrift::MemoryBufferTransport.new) }
  RUBY

  it "serves objects and subclasses that were made before" do
    result = Installed.run(<<~RUBY)
      require "thrift"
      #{round_trip}
      OLD.each { |transport| transport.write("half ".b) }
      require "thrift/native"
      new = OLD.map { |transport| transport.class.new(Thrift::MemoryBufferTransport.new) }
      p OLD.map { |transport| transport.write("done"); transport.flush; transport.read(9) }, new.map { |one| pass(one) }
      #{report}
    RUBY

    expect_loaded(result)
    expect(result.out.lines.first(2)).to eq(["[\"half done\", \"HALF DONE\"]\n", "[\"hello\", \"HELLO\"]\n"])
  end

  it "serves the children of a parent that preloads it" do
    result = Installed.run(<<~RUBY)
      require "thrift/native"
      #{round_trip}
      listener = Thrift::ServerSocket.new("127.0.0.1", 0)
      listener.listen
      port = listener.handle.addr[1]
      servers = Array.new(2) do
        fork do
          client = Thrift::FramedTransport.new(listener.accept)
          client.write(client.read(5).reverse + Process.pid.to_s)
          client.flush
          client.close
        end
      end
      answers = servers.map do
        transport = Thrift::FramedTransport.new(Thrift::Socket.new("127.0.0.1", port, 20))
        transport.open
        transport.write("abcde")
        transport.flush
        [transport.read(5), transport.read(30).to_i]
      end
      servers.each { |pid| Process.wait(pid) }
      p answers.map(&:first), answers.map(&:last).sort == servers.sort, pass(OLD.first)
      #{report}
    RUBY

    expect_loaded(result)
    expect(result.out.lines.first(3)).to eq(["[\"edcba\", \"edcba\"]\n", "true\n", "\"hello\"\n"])
  end

  it "loads quietly where the extension wasn't built" do
    result = Installed.run('require "thrift/native"' + "\n" + report, pure: true, env: { "RUBYOPT" => "-w" })

    expect(result).to be_success, result.to_s
    expect(result.out).to match(/\Aaccelerated=true installed=true extension=not built .* their_extensions=1 /)
    expect(Installed.own_words(result.err)).to eq("")
  end

  it "says so when thrift's own extension can't be found, and goes on" do
    Dir.mktmpdir do |dir|
      FileUtils.cp_r("#{Installed::THRIFT.full_gem_path}/lib/.", dir)
      FileUtils.rm_f(Dir["#{dir}/thrift_native.*"])
      result = Child.run('require "thrift"; puts Thrift::Native.status.lines.size',
                         options: ["--disable-gems", "-I#{Child::LIB}", "-I#{dir}"], env: Installed::CLEAN)

      expect(result.err).to match(/\Athrift_native: thrift's own extension is not there; thrift runs in pure Ruby$/)
      expect(result.out.to_i).to be > 10
    end
  end
end
