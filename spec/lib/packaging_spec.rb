# frozen_string_literal: true

require "rubygems/package"
require_relative "installed"

RSpec.describe "The gem" do
  root = Installed::ROOT

  let(:package) { Gem::Package.new("#{Installed.home}/thrift_native.gem") }

  it "carries its sources and its papers, and nothing else" do
    contents = package.contents

    expect(contents).to include("ext/thrift_native/extconf.rb", "ext/thrift_native/init.c", "ext/thrift_native/tn.h",
                                "lib/thrift/native.rb", "lib/thrift_native.rb", "LICENSE", "README.md", "CHANGELOG.md")
    expect(contents.grep_v(%r{\A(?:ext/thrift_native/[\w/]+\.(?:c|h|rb)|lib/[\w/]+\.rb|[A-Z]+(?:\.md)?)\z})).to eq([])
    expect(contents.grep(/\.(?:so|o|bundle)\z/)).to eq([])
  end

  it "carries every source of the working tree" do
    sources = Dir.chdir(root) { Dir["{ext,lib}/**/*.{c,h,rb}"] }

    expect(package.contents).to include(*sources)
  end

  it "needs thrift alone, without an upper bound" do
    dependencies = package.spec.dependencies.map { |one| [one.name, one.type, one.requirement.to_s] }

    expect(dependencies).to eq([["thrift", :runtime, ">= 0.14"]])
  end

  it "has a changelog entry for its version" do
    expect(File.read("#{root}/CHANGELOG.md")).to match(/^## \[#{Regexp.escape(Thrift::Native::VERSION)}\]/)
  end

  it "writes down no gem server" do
    expect(Dir["#{root}/{Gemfile,Rakefile,*.gemspec,bin/*,.ci/*,rakelib/*}"].select do |file|
      File.read(file).match?(%r{https?://})
    end).to eq([])
  end

  it "has Ruby sources without a warning, with frozen literals" do
    files = Dir["#{root}/lib/**/*.rb"].reject { |file| file.include?("/thrift_native/") }
    output, status = Open3.capture2e(Installed::CLEAN, RbConfig.ruby, "-wc", *files)

    expect(status).to be_success
    expect(output.lines.uniq).to eq(["Syntax OK\n"])
    expect(files.reject { |file| File.readlines(file).first == "# frozen_string_literal: true\n" }).to eq([])
  end

  it "exports the extension's Init function alone" do
    skip "no extension" unless SpecHelpers.native?
    skip "no nm" unless system("command -v nm >/dev/null 2>&1")

    libraries = Dir["#{Installed.home}/gems/thrift_native-*/lib/**/*.{so,bundle}"]
    expect(libraries.size).to eq(1)
    names = Open3.capture2("nm", "-D", "--defined-only", libraries.first).first.lines.map { |line| line.split.last }
    expect(names).to eq(["Init_thrift_native_ext"])
  end

  # Knows nothing of us but the one require.
  program = <<~RUBY
    require "thrift/native"
    require #{"#{root}/spec/fixtures/load.rb".inspect}

    class Handler
      def echo(small)
        small
      end
    end
    transport = Thrift::ServerSocket.new("127.0.0.1", 0)
    listening = Queue.new
    transport.define_singleton_method(:listen) { super().tap { listening << handle.addr[1] } }
    server = Thrift::ThreadPoolServer.new(
      Fixtures::Echo::Processor.new(Handler.new), transport, Thrift::FramedTransportFactory.new,
      Thrift::BinaryProtocolAcceleratedFactory.new, 4
    )
    Thread.new { server.serve }.report_on_exception = true
    port = listening.pop
    answers = Array.new(3) do |n|
      socket = Thrift::FramedTransport.new(Thrift::Socket.new("127.0.0.1", port, 20))
      socket.open
      client = Fixtures::Echo::Client.new(Thrift::BinaryProtocolAccelerated.new(socket))
      answer = client.echo(Fixtures.small(n))
      socket.close
      answer == Fixtures.small(n)
    end
    p answers, Thrift::Native.status.extension
  RUBY

  it "serves a program when RubyGems installed it, without Bundler" do
    result = Installed.run(program)

    extension = SpecHelpers.native? ? "loaded" : "not built"
    expect(result.out).to eq("[true, true, true]\n#{extension.inspect}\n"), result.to_s
    expect(result.err).to eq("")
  end

  it "serves the same program when the extension wasn't built" do
    result = Installed.run(program, pure: true)

    expect(result.out).to eq("[true, true, true]\n\"not built\"\n"), result.to_s
    expect(result.err).to eq("")
    expect(Dir["#{Installed.home(pure: true)}/gems/thrift_native-*/lib/**/*.{so,bundle}"]).to eq([])
  end

  it "installs without the extension where no compiler works" do
    Dir.mktmpdir do |home|
      # `cc` and `gcc` that fail stand for a missing compiler: mkmf takes the name from RbConfig.
      tools = "#{home}/tools"
      FileUtils.mkdir_p(tools)
      [RbConfig::CONFIG["CC"].split.first, "cc", "gcc", "clang"].uniq.each do |name|
        File.write("#{tools}/#{File.basename(name)}", "#!/bin/sh\nexit 1\n", perm: 0o755)
      end
      env = Installed::CLEAN.merge("GEM_HOME" => home, "GEM_PATH" => home, "PATH" => "#{tools}:#{ENV.fetch("PATH")}")
      command = [Gem.ruby, "-S", "gem", "install", "--local", "--ignore-dependencies", "--force", "--no-document"]
      output, status = Open3.capture2e(env, *command, "#{Installed.home}/thrift_native.gem")

      expect(status).to be_success, output
      expect(Dir["#{home}/gems/thrift_native-*/lib/**/*.{so,bundle}"]).to eq([])
    end
  end
end
