# frozen_string_literal: true

require "bundler"
require_relative "../parity/parity"
require_relative "../support/child"

# What programs do around structs, one file of this directory for each kind, with the thrift gem alone and with ours.
RSpec.describe "What programs are used to", :ext do
  # What may come out otherwise with ours.
  DELIBERATE = [
    /: a failed write leaves nothing/,                    # the stock code leaves what it had written by then
    /: in the \d+th hook: the buffer emptied/,            # a transport's own String, changed behind its back
    /: in the \d+th hash_hook: the place where we are\z/, # keys are hashed when some of them have been read
    /: FIELDS set anew meanwhile/, /FIELDS set anew is written/ # the stock code keeps the old ids in the class
  ].freeze

  def outcomes(file, version, native)
    env = { "HABITS_NATIVE" => native ? "1" : "0", "GEM_PATH" => Parity.gem_path(version), "GEM_HOME" => nil,
            "THRIFT_NATIVE" => nil }
    code = "ARGV.replace([#{version.inspect}]); load #{File.join(__dir__, "#{file}.rb").inspect}"
    result = Bundler.with_unbundled_env do
      Child.run(code, options: ["-W0", *(["-I", Child::LIB] if native)], env: env, timeout: 120)
    end
    raise "#{file}: #{result}" unless result.success?

    result.out.lines(chomp: true).map { |line| line.split("\t", 2) }
  end

  def deliberate?(label)
    DELIBERATE.any? { |pattern| pattern.match?(label) }
  end

  # As with the installed thrift where something is valid, as with the strictest one where it isn't.
  { "classes" => 55, "writing" => 180, "reading" => 190, "protocols" => 100 }.each do |file, least|
    it "still works: #{file}" do
      skip(Parity.lacking) if Parity.lacking
      ours = outcomes(file, Parity.version, true)
      allowed = [Parity.version, Parity::STRICTEST].uniq.map { |version| outcomes(file, version, false) }
      allowed.each { |stock| expect(ours.map(&:first)).to eq(stock.map(&:first)) }
      expect(ours.size).to be >= least
      different = ours.zip(*allowed).reject { |one, *others| others.include?(one) || deliberate?(one.first) }
      expect(different.map { |(label, found), *expected|
        "#{label}: #{found}, stock #{expected.map(&:last).join(" or ")}"
      }).to eq([])
    end
  end
end
