# frozen_string_literal: true

require_relative "lib/thrift/native/version"

Gem::Specification.new do |spec|
  spec.name = "thrift_native"
  spec.version = Thrift::Native::VERSION
  spec.authors = ["The thrift_native developers"]
  spec.summary = "Apache Thrift's Ruby sockets, TLS and transports, in C, behind the same API"
  spec.description = <<~TEXT
    A drop-in C extension for the thrift gem: the same classes, the same API and the same bytes on the
    wire, with sockets, TLS and transports in C. Programs add one line to their Gemfile.
  TEXT
  spec.license = "Apache-2.0"
  # lib/ also runs on JRuby 9.3 (Ruby 2.6), where the extension is left out.
  spec.required_ruby_version = ">= 2.6"
  spec.files = Dir.chdir(__dir__) do
    Dir["ext/**/*.{c,h,rb}", "lib/**/*.rb", "LICENSE", "README.md", "CHANGELOG.md"]
  end
  spec.require_paths = ["lib"]
  spec.extensions = ["ext/thrift_native/extconf.rb"]
  spec.metadata = { "rubygems_mfa_required" => "true" }

  # No upper bound: a release that is not in lib/thrift/native/digests.rb stays stock.
  spec.add_dependency "thrift", ">= 0.14"
end
