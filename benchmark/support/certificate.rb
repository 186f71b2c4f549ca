# frozen_string_literal: true

require "openssl"
require "tmpdir"

module ThriftBenchmark
  # A self-signed certificate for the loopback addresses, for the length of a block.
  module Certificate
    module_function

    # @param kind [Symbol] :ec (P-256) or :rsa
    # @param bits [Integer] of an RSA key
    # @yieldparam options [Hash] "certificate" and "key", paths of PEM files
    def with(kind, bits: 4096)
      Dir.mktmpdir("thrift-benchmark") do |directory|
        key = kind == :ec ? OpenSSL::PKey::EC.generate("prime256v1") : OpenSSL::PKey::RSA.new(bits)
        paths = { "certificate" => File.join(directory, "certificate.pem"), "key" => File.join(directory, "key.pem") }
        File.write(paths["certificate"], signed(key).to_pem)
        File.write(paths["key"], key.to_pem, perm: 0o600)
        yield paths
      end
    end

    def signed(key)
      name = OpenSSL::X509::Name.new([%w[CN localhost]])
      certificate = OpenSSL::X509::Certificate.new
      certificate.version = 2
      certificate.serial = rand(1 << 64)
      certificate.subject = certificate.issuer = name
      certificate.public_key = key
      certificate.not_before = Time.now - 3600
      certificate.not_after = Time.now + 86_400
      extend_certificate(certificate)
      certificate.sign(key, OpenSSL::Digest.new("SHA256"))
    end

    def extend_certificate(certificate)
      factory = OpenSSL::X509::ExtensionFactory.new(certificate, certificate)
      certificate.add_extension(factory.create_extension("basicConstraints", "CA:TRUE", true))
      certificate.add_extension(factory.create_extension("subjectAltName", "DNS:localhost,IP:127.0.0.1"))
    end
  end
end
