# frozen_string_literal: true

require "thrift"
require_relative "suite"

# The thrift gem's own specs know better than we what its classes do: whatever passes with the stock gem passes with
# ours loaded. Runs both, of the thrift that is installed here, and compares them example by example.
RSpec.describe "the thrift gem's own specs" do
  suite = Upstream::Suite.new(Gem.loaded_specs.fetch("thrift").version.to_s)

  # @return [Hash{String => String}] the run's examples of one spec file
  def of_file(run, file)
    run.examples.select { |name, _| name.start_with?("#{file}: ") }
  end

  # It's pending until a later release, and passes with ours.
  def hoped_for?(name, status)
    status == "pending" && ours.messages[name].match?(/pending, but it passed/)
  end

  let(:stock) { suite.run(native: false) }
  let(:ours) { suite.run(native: true) }

  suite.files.each do |file|
    it "has the same results for #{file}, with thrift #{suite.version}" do
      expected = of_file(stock, file)
      expect(expected).not_to be_empty

      actual = of_file(ours, file)
      expect(actual.keys).to eq(expected.keys)
      tolerated = suite.flaky.keys + suite.different.keys
      fine = lambda do |name, status|
        status == "failed" || status == actual[name] || tolerated.include?(name) || hoped_for?(name, status)
      end
      worse = expected.reject { |name, status| fine.call(name, status) }
      expect(worse.keys.map { |name| "#{name}\n#{ours.messages[name]}" }).to eq([])
    end
  end

  it "fails stock where it is known to, and nowhere else" do
    failed = stock.examples.select { |_, status| status == "failed" }.keys

    expect(failed - suite.flaky.keys).to match_array(suite.failing.keys)
  end

  it "differs on purpose only where it does differ" do
    stale = suite.different.keys.reject { |name| stock.examples[name] == "passed" && ours.examples[name] == "failed" }

    expect(stale).to eq([])
  end

  it "lists as flaky only what exists" do
    expect(suite.flaky.keys - stock.examples.keys).to eq([])
  end
end
