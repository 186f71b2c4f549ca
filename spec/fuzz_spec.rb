# frozen_string_literal: true

require "bundler"
require_relative "parity/parity"

# What the fuzzer has kept, each file a way through the code of its own: see `rake fuzz`.
RSpec.describe "The fuzzer's corpus", :ext do
  def replay(version, native)
    code = "gem 'thrift', #{version.inspect}; require #{native ? "'thrift/native'" : "'thrift'"}; " \
           "load #{File.expand_path("../fuzz/replay.rb", __dir__).inspect}"
    env = { "GEM_PATH" => Parity.gem_path(version), "GEM_HOME" => nil, "THRIFT_NATIVE" => nil }
    result = Bundler.with_unbundled_env do
      Child.run(code, options: ["-W0", *(["-I", Child::LIB] if native)], env: env, timeout: 120)
    end
    raise result.to_s unless result.success?

    result.out.lines
  end

  it "is read, or refused, as by the strictest thrift" do
    skip(Parity.lacking) if Parity.lacking
    ours = replay(Parity.version, true)
    expect(ours.size).to be > 100
    expect(ours - replay(Parity::STRICTEST, false)).to eq([])
  end
end
