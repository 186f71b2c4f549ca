# frozen_string_literal: true

require "socket"
require_relative "certificates"

RSpec.describe Certificates do
  # @return [Array, Exception] what both ends know of each other, or what went wrong at the client
  def shake(server_context, client_context, name: "localhost")
    ours, theirs = UNIXSocket.pair
    server = OpenSSL::SSL::SSLSocket.new(theirs, server_context)
    accepting = Thread.new do
      server.accept
    rescue OpenSSL::SSL::SSLError => e
      theirs.close
      e
    end
    client = OpenSSL::SSL::SSLSocket.new(ours, client_context)
    client.connect
    client.post_connection_check(name)
    accepting.value
    [client.peer_cert.public_key.class, server.peer_cert&.subject.to_s]
  rescue OpenSSL::SSL::SSLError => e
    accepting.join
    e
  ensure
    [ours, theirs].each(&:close)
    accepting&.join
  end

  it "makes servers of both kinds that a client can verify" do
    expect(shake(described_class.server_context, described_class.client_context).first).to eq(OpenSSL::PKey::EC)
    expect(shake(described_class.server_context(kind: :rsa), described_class.client_context).first)
      .to eq(OpenSSL::PKey::RSA)
    expect(shake(described_class.server_context, described_class.client_context, name: "127.0.0.1")).to be_an(Array)
  end

  it "lets the server ask for the client's certificate" do
    server = described_class.server_context(verify_client: true)

    expect(shake(server, described_class.client_context(described_class.client)).last).to eq("/CN=a client")
  end

  it "has a stranger whom nobody trusts" do
    server = OpenSSL::SSL::SSLContext.new
    server.cert = described_class.stranger.cert
    server.key = described_class.stranger.key

    expect(shake(server, described_class.client_context)).to be_an(OpenSSL::SSL::SSLError)
    expect(shake(server, described_class.client_context(verify: false))).to be_an(Array)
  end

  it "makes each certificate once" do
    expect(described_class.server.cert).to equal(described_class.server.cert)
  end
end
