# frozen_string_literal: true

require "openssl"

# Certificates for specs, made on the fly: nothing secret in the repository, nothing that expires. One authority and one
# certificate of each kind a process.
module Certificates
  # @!attribute cert [OpenSSL::X509::Certificate]
  # @!attribute key [OpenSSL::PKey::PKey]
  Pair = Struct.new(:cert, :key)

  DAY = 24 * 60 * 60

  module_function

  # @return [Pair] signs all others
  def authority
    cache[:authority] ||= make("thrift_native test authority", new_key(:ec), nil)
  end

  # @param kind [Symbol] :ec (P-256) or :rsa
  # @param bits [Integer] of an RSA key
  # @return [Pair] for localhost and the loopback addresses
  def server(kind: :ec, bits: 2048)
    cache[[:server, kind, bits]] ||= make("localhost", new_key(kind, bits), authority)
  end

  # @return [Pair] of a client that the server asks for a certificate
  def client(kind: :ec, bits: 2048)
    cache[[:client, kind, bits]] ||= make("a client", new_key(kind, bits), authority)
  end

  # @return [Pair] that the authority has not signed
  def stranger
    cache[:stranger] ||= make("localhost", new_key(:ec), nil)
  end

  # @return [OpenSSL::SSL::SSLContext] a new one each time, because contexts get frozen with use
  def server_context(kind: :ec, bits: 2048, verify_client: false)
    context(server(kind: kind, bits: bits)) do |ctx|
      ctx.verify_mode = OpenSSL::SSL::VERIFY_PEER | OpenSSL::SSL::VERIFY_FAIL_IF_NO_PEER_CERT if verify_client
    end
  end

  # @param pair [Pair, nil] the client's own certificate
  # @param verify [Boolean] whether the server must be one of ours, with the right name
  # @return [OpenSSL::SSL::SSLContext]
  def client_context(pair = nil, verify: true)
    context(pair) do |ctx|
      ctx.verify_mode = verify ? OpenSSL::SSL::VERIFY_PEER : OpenSSL::SSL::VERIFY_NONE
    end
  end

  # @param cert [OpenSSL::X509::Certificate]
  # @return [OpenSSL::X509::Store] that trusts +cert+ alone
  def store(cert = authority.cert)
    OpenSSL::X509::Store.new.tap { |made| made.add_cert(cert) }
  end

  def context(pair)
    OpenSSL::SSL::SSLContext.new.tap do |ctx|
      ctx.cert_store = store
      if pair
        ctx.cert = pair.cert
        ctx.key = pair.key
      end
      yield ctx
    end
  end

  def new_key(kind, bits = nil)
    kind == :rsa ? OpenSSL::PKey::RSA.new(bits) : OpenSSL::PKey::EC.generate("prime256v1")
  end

  def make(name, key, issuer)
    cert = OpenSSL::X509::Certificate.new
    cert.version = 2
    cert.serial = OpenSSL::BN.rand(64)
    cert.subject = OpenSSL::X509::Name.new([["CN", name]])
    cert.issuer = issuer ? issuer.cert.subject : cert.subject
    cert.public_key = public_key(key)
    cert.not_before = Time.now - DAY
    cert.not_after = Time.now + DAY
    extend_with(cert, issuer)
    cert.sign((issuer || Pair.new(cert, key)).key, OpenSSL::Digest.new("SHA256"))
    Pair.new(cert, key)
  end

  # An EC key is its own public half for OpenSSL's purposes; an RSA key isn't.
  def public_key(key)
    key.is_a?(OpenSSL::PKey::EC) ? key : key.public_key
  end

  def extend_with(cert, issuer)
    factory = OpenSSL::X509::ExtensionFactory.new
    factory.subject_certificate = cert
    factory.issuer_certificate = issuer ? issuer.cert : cert
    cert.add_extension(factory.create_extension("basicConstraints", issuer ? "CA:FALSE" : "CA:TRUE", true))
    return unless cert.subject.to_s == "/CN=localhost"

    cert.add_extension(factory.create_extension("subjectAltName", "DNS:localhost,IP:127.0.0.1,IP:::1"))
  end

  def cache
    @cache ||= {}
  end

  private_class_method :context, :new_key, :make, :public_key, :extend_with, :cache
end
