# frozen_string_literal: true

require_relative "../support/child"

RSpec.describe "ext/thrift_native/names.c" do
  it "holds in place what the thrift gem's extension remembers the addresses of" do
    child = Child.run(<<~RUBY, timeout: 120)
      require "thrift"
      require "thrift/native"
      memory = Thrift::MemoryBufferTransport.new
      [Thrift::BinaryProtocolAccelerated, Thrift::CompactProtocol].each do |kind|
        protocol = kind.new(memory)
        3.times do
          if GC.respond_to?(:verify_compaction_references)
            GC.verify_compaction_references(toward: :empty)
          end
          protocol.write_string("\\u00e9")
          puts protocol.read_string
        end
      end
    RUBY
    expect(child.out.split).to eq(["\u00e9"] * 6), child.to_s
  end
end
