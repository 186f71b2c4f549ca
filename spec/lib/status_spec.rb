# frozen_string_literal: true

require "thrift/native"
require_relative "installed"

RSpec.describe Thrift::Native::Status do
  row = Thrift::Native::Install::Row
  outcome = Thrift::Native::Install::Outcome
  subject(:status) do
    described_class.new([
                          outcome.new(row.new(:socket, "Socket"), :native, nil),
                          outcome.new(row.new(:framed, "FramedTransport"), :stock, "THRIFT_NATIVE_SKIP")
                        ])
  end

  it "tells of each class what became of it, and why" do
    expect(status.to_h).to eq("Thrift::Socket" => :native, "Thrift::FramedTransport" => :stock)
    expect(status[Thrift::FramedTransport])
      .to have_attributes(part: :framed, state: :stock, reason: "THRIFT_NATIVE_SKIP")
    expect(status["Thrift::Socket"]).to have_attributes(state: :native, reason: nil)
    expect(status["Thrift::Nothing"]).to be_nil
  end

  it "is active when anything is native" do
    expect(status).to be_active
    expect(described_class.new([outcome.new(row.new(:socket, "Socket"), :ruby, "not built")])).not_to be_active
    expect(described_class.new([])).not_to be_active
  end

  it "prints versions, the extension, and a line for each class" do
    lines = status.to_s.lines(chomp: true)

    thrift = Gem.loaded_specs["thrift"].version
    expect(lines.first)
      .to eq("thrift_native #{Thrift::Native::VERSION}, thrift #{thrift}, #{RUBY_ENGINE} #{RUBY_VERSION}")
    expect(lines[1]).to eq("extension: #{SpecHelpers.native? ? "loaded" : Thrift::Native::Extensions.missing}")
    expect(lines.last(2))
      .to eq(["Thrift::Socket           native", "Thrift::FramedTransport  stock   THRIFT_NATIVE_SKIP"])
  end

  it "says how TLS goes, as the extension tells it" do
    expect(status.tls).to match(/\w/) if SpecHelpers.native?
    allow(status).to receive(:tls).and_return("direct")
    expect(status.to_s.lines[2]).to eq("TLS: direct\n")
  end

  it "has a line for each class of the table in this process" do
    names = Thrift::Native::Install::TABLE.map { |one| "Thrift::#{one.name}" }
    expect(Thrift::Native.status.lines.map(&:name)).to eq(names)
    expect(Thrift::Native.active?).to eq(SpecHelpers.native?)
    expect(Thrift::Native.status.lines.select { |line| line.state == :stock && line.reason.to_s.empty? }).to eq([])
  end

  it "calls native what reads and writes by an inherited method in C" do
    states = Thrift::Native.status.to_h.values_at("Thrift::Socket", "Thrift::UNIXSocket", "Thrift::SSLSocket")
    expect(states).to eq([SpecHelpers.native? ? :native : :ruby] * 3)
  end

  {
    { "THRIFT_NATIVE" => "0" } => "extension: THRIFT_NATIVE=0",
    { "THRIFT_NATIVE_PURE" => "1" } => "extension: THRIFT_NATIVE_PURE=1"
  }.each do |env, line|
    it "says why the extension isn't there: #{env}" do
      paths = [Child::LIB, *Installed.thrift_paths].map { |path| "-I#{path}" }
      code = 'require "thrift/native"; puts Thrift::Native.status, Thrift::Native.active?'
      result = Child.run(code, options: paths, env: Installed::CLEAN.merge(env))

      expect(result.out.lines(chomp: true)).to include(line, "false")
      expect(result.err).to eq("")
    end
  end
end
