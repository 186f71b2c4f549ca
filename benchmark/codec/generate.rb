# frozen_string_literal: true

# Makes gen-rb/ anew from codec.thrift, with thrift-compiler 0.17: ruby benchmark/codec/generate.rb
# There are only structs without required fields in it, for which all supported runtimes need the same code.

require_relative "../../spec/support/generated_code"

target = File.join(__dir__, "gen-rb")
GeneratedCode.compile(File.join(__dir__, "codec.thrift"), target, form: "0.14")
File.delete(File.join(target, "codec_constants.rb"))
