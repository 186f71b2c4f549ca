# frozen_string_literal: true

require "json"
require_relative "support/exercise"

# Calls through everything at once: every server, transport, protocol and way to connect, and ours with the stock gem.
RSpec.describe "calls" do
  Servers::KINDS.each do |kind|
    # NonblockingServer takes frames itself.
    combinations = Exercise::COMBINATIONS.select { |how| kind != :nonblocking || how[:transport] == :framed }

    combinations.each do |how|
      it "work with the #{kind} server over #{how.values.join(", ")}" do
        Servers.start(server: kind, **how) do |server|
          expect(server.client { |client| Exercise.problems(client) }).to eq([])
          # A second connection, after the first was closed.
          expect(server.client { |client| client.item(Fixtures.item(2)) }).to eq(Fixtures.item(2))
          expect(server.failure).to be_nil
        end
      end
    end
  end

  # With the stock gem. Before 0.23 it leaves Nagle's algorithm on, which without a buffer costs 40 ms a write over TCP.
  mixed = Exercise::COMBINATIONS.reject do |how|
    how[:protocol] == :binary || (how[:transport] == :none && how[:over] != :unix)
  end

  # What a child prints that does not run what it should.
  def check(native)
    <<~RUBY
      replaced = Thrift::FramedTransport.private_method_defined?(:__stock_read)
      abort "ours is \#{replaced ? "" : "not "}there" if replaced != #{native}
    RUBY
  end

  it "work from ours to a stock server" do
    code = <<~RUBY
      #{Servers.preamble(false)}
      #{check(false)}
      require "json"
      require #{File.expand_path("support/exercise", __dir__).inspect}
      Exercise.serve(#{mixed.inspect}) do |servers|
        $stdout.sync = true
        addresses = servers.map { |how, server| [how, server.contact.address] }
        puts JSON.generate([Certificates.authority.cert.to_pem, addresses])
        $stdin.read
      end
    RUBY
    Child.start(code, env: { "THRIFT_NATIVE" => "0" }) do |child|
      pem, servers = JSON.parse(child.gets)
      servers.each do |how, address|
        contact = Servers::RemoteContact.new(*how.values_at("transport", "protocol", "over").map(&:to_sym), address)
        contact.authority = OpenSSL::X509::Certificate.new(pem)
        expect([how, contact.client { |client| Exercise.problems(client) }]).to eq([how, []])
      end
    end
  end

  it "work from a stock client to ours" do
    code = <<~RUBY
      #{Servers.preamble(false)}
      #{check(false)}
      require "json"
      require #{File.expand_path("support/exercise", __dir__).inspect}
      pem, servers = JSON.parse($stdin.gets)
      servers.each do |how, address|
        contact = Servers::RemoteContact.new(*how.values_at("transport", "protocol", "over").map(&:to_sym), address)
        contact.authority = OpenSSL::X509::Certificate.new(pem)
        # Up to 0.22 its SSLSocket with a timeout doesn't see what OpenSSL already holds.
        problems = contact.client(timeout: nil) { |client| Exercise.problems(client) }
        puts "\#{how}: \#{problems}" unless problems.empty?
      end
      puts "tried \#{servers.size}"
    RUBY
    Exercise.serve(mixed) do |servers|
      Child.start(code, env: { "THRIFT_NATIVE" => "0" }) do |child|
        addresses = servers.map { |how, server| [how, server.contact.address] }
        child.puts(JSON.generate([Certificates.authority.cert.to_pem, addresses]))
        result = child.wait(60)
        expect(result.out).to eq("tried #{mixed.size}\n"), result.to_s
      end
    end
  end
end
