# frozen_string_literal: true

require_relative "parity"

# PARITY_SEED is the first seed, PARITY_COUNT how many are tried: `PARITY_COUNT=2000 bundle exec rspec spec/parity`.
RSpec.describe "Random classes and values", :ext do
  first = Integer(ENV.fetch("PARITY_SEED", "1"))
  count = Integer(ENV.fetch("PARITY_COUNT", "40"))

  # A child that did nothing would agree with another one that did nothing.
  def expect_parity(mode, first, count, at_least:, **how)
    compared = 0
    differences = Parity.differences(mode, first, count, **how) { |lines| compared = lines }
    expect(differences.first(5)).to eq([])
    expect(compared).to be > at_least
  end

  it "are written, read, made and compared as by the installed thrift" do
    expect_parity("valid", first, count, at_least: count * 60)
  end

  it "are refused as by the strictest thrift when a value is wrong" do
    skip(Parity.lacking) if Parity.lacking
    expect_parity("wrong", first, count, at_least: count * 40)
  end

  it "are refused as by the strictest thrift when bytes are missing or changed" do
    skip(Parity.lacking) if Parity.lacking
    expect_parity("broken", first, [count / 8, 1].max, at_least: 100)
  end

  it "are the same with a collection at every allocation" do
    expect_parity("valid", first + 1, 2, at_least: 30, gc: "stress", rounds: 1)
  end

  it "are the same with objects that move" do
    skip("this Ruby can't move objects") unless GC.respond_to?(:auto_compact=)
    expect_parity("valid", first, [count / 4, 1].max, at_least: 100, gc: "compact")
  end
end
