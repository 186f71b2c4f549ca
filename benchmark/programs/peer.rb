# frozen_string_literal: true

# Writes and reads the shapes of `rake benchmark:codec` with another library; `Codec::Peer` is the other end.

# Before anything else is loaded: json, which this program talks with, is one of them.
begin
  if ENV["BUNDLE_GEMFILE"]
    require "bundler"
    Bundler.ui = Bundler::UI::Silent.new # standard output is for answers
    Bundler.setup
  end
rescue LoadError, StandardError => e
  missing = e
end

require_relative "../support/conversation"
require_relative "../support/loops"
require_relative "../codec/plain"

module ThriftBenchmark
  # @abstract Each file peers/NAME/peer.rb defines one as `PEER`.
  class Peer
    def initialize
      @loops = Loops.new
    end

    # @return [String] name and version of the library
    def version
      raise NotImplementedError
    end

    # Learns the classes.
    # @param schema [Hash] see Shapes.schema
    def learn(schema)
      @schema = schema
    end

    # @param plain [Object] see Plain
    # @param wire [String] the value in Thrift's binary protocol
    # @return [Object] the value in the form that this library writes
    def value(_name, plain, _wire)
      plain
    end

    # @return [String] the value's bytes
    def write(_name, _value)
      raise NotImplementedError
    end

    # @return [Proc] see Loops#add
    def repeat_write(_name, _value)
      raise NotImplementedError
    end

    # @return [Object] made of Ruby's or the library's objects
    def read(_name, _bytes)
      raise NotImplementedError
    end

    def repeat_read(_name, _bytes)
      raise NotImplementedError
    end

    # @return [Object] what was read as a plain value
    def plain(name, read)
      Plain.restore(@schema, { "type" => "struct", "class" => @schema.fetch("shapes").fetch(name) }, read)
    end

    def perform(command)
      case command.fetch("do")
      when "check" then check(command["directory"])
      when "time" then { "cpu" => @loops.time(*command.values_at("shape", "direction", "seconds")) }
      else raise ArgumentError, "unknown command #{command}"
      end
    end

    private

    # @return [Hash{String => Hash}] by shape the digest of what was written and read again, or an error
    def check(directory)
      learn(JSON.parse(File.read(File.join(directory, "schema.json"))))
      @schema.fetch("shapes").keys.map do |name|
        [name, prepare(name, File.join(directory, name))]
      rescue StandardError, NotImplementedError => e
        [name, { "error" => "#{e.class}: #{e.message}" }]
      end.to_h
    end

    def prepare(name, path)
      own = value(name, Marshal.load(File.binread("#{path}.plain")), File.binread("#{path}.thrift"))
      bytes = write(name, own)
      digest = Plain.digest(plain(name, read(name, bytes)))
      @loops.add(name, "write", repeat_write(name, own))
      @loops.add(name, "read", repeat_read(name, bytes))
      { "digest" => digest, "size" => bytes.bytesize }
    end
  end
end

begin
  raise missing if missing

  require_relative "../peers/#{ThriftBenchmark::Conversation::OPTIONS.fetch("peer")}/peer"
rescue LoadError, StandardError => e
  ThriftBenchmark::Conversation.run("missing" => e.message.lines.first.to_s.strip) { {} }
  exit
end

peer = ThriftBenchmark::PEER.new
ThriftBenchmark::Conversation.run("version" => peer.version) { |command| peer.perform(command) }
