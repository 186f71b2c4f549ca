# frozen_string_literal: true

require "digest/sha2"
require "fileutils"
require "open3"

# Other languages' Thrift libraries, with code that the Thrift compiler makes for them; kept in tmp/ for the next run.
module Interop
  HERE = __dir__
  CACHE = File.expand_path("../../tmp/interop", __dir__)

  # Something that isn't installed.
  Missing = Class.new(StandardError)

  class << self
    # The structs of interop.thrift, in Ruby.
    def load
      return if const_defined?(:All)

      $LOAD_PATH.unshift(generated("rb"))
      verbose = $VERBOSE
      $VERBOSE = nil
      require "interop_types"
    ensure
      $VERBOSE = verbose
      $LOAD_PATH.shift
    end

    # @param protocol [String] as echo.py knows it
    # @param messages [Array<String>]
    # @return [Array<String>] the messages, read and written again
    def python(protocol, messages)
      python = ["/usr/bin/python3", "python3"].find { |path| works?(path, "-c", "import thrift") }
      raise Missing, "Python's thrift (python3-thrift)" unless python

      exchange([python, File.join(HERE, "echo.py"), generated("py"), protocol], messages)
    end

    # @param protocol [String] binary or compact
    def cpp(protocol, messages)
      exchange([compiled, protocol], messages)
    end

    private

    def works?(*command)
      _, status = Open3.capture2e(*command)
      status.success?
    rescue SystemCallError
      false
    end

    def run(*command)
      output, status = Open3.capture2e(*command)
      raise "#{command.join(" ")}: #{output}" unless status.success?
    end

    def generated(language)
      raise Missing, "the Thrift compiler (thrift-compiler)" unless works?("thrift", "--version")

      source = File.join(HERE, "interop.thrift")
      directory = File.join(CACHE, "#{language}-#{Digest::SHA256.file(source).hexdigest[0, 12]}")
      return directory if File.exist?(File.join(directory, "done"))

      FileUtils.mkdir_p(directory)
      run("thrift", "--gen", language, "-out", directory, source)
      FileUtils.touch(File.join(directory, "done"))
      directory
    end

    def compiled
      code = generated("cpp")
      program = File.join(CACHE, "echo-#{Digest::SHA256.file(File.join(HERE, "echo.cpp")).hexdigest[0, 12]}")
      return program if File.exist?(program)

      raise Missing, "the C++ library (g++, libthrift-dev, libboost-dev)" unless headers?

      run("g++", "-O1", "-I", code, File.join(HERE, "echo.cpp"), File.join(code, "interop_types.cpp"), "-lthrift",
          "-o", "#{program}.new")
      File.rename("#{program}.new", program)
      program
    end

    def headers?
      works?("g++", "--version") && works?("sh", "-c", <<~SH)
        printf '#include <thrift/Thrift.h>\\n#include <thrift/protocol/TCompactProtocol.h>\\n' | g++ -E -x c++ - >/dev/null
      SH
    end

    def exchange(command, messages)
      input = messages.map { |message| [message.bytesize].pack("N") + message }.join
      output, errors, status = Open3.capture3(*command, stdin_data: input, binmode: true)
      raise "#{command.first(2).join(" ")}: #{status} #{errors}" unless status.success?

      split(output)
    end

    def split(output)
      messages = []
      until output.empty?
        size = output.unpack1("N")
        messages << output.byteslice(4, size)
        output = output.byteslice((4 + size)..)
      end
      messages
    end
  end
end
