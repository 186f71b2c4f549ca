# frozen_string_literal: true

require_relative "../support/child"
require_relative "../support/transport_script"

RSpec.describe "ext/thrift_native/memory.c" do
  def memory(bytes = nil)
    Thrift::MemoryBufferTransport.new.tap { |transport| transport.write(bytes) if bytes }
  end

  def state(transport)
    [transport.instance_variable_get(:@buf), transport.instance_variable_get(:@index)]
  end

  it "answers as the stock gem does" do
    seeds = (1..20).to_a
    expect(TransportScript.run(:memory, seeds)).to eq(TransportScript.stock(:memory, seeds))
  end

  it "is what the class runs" do
    expect(Thrift::Native.status[Thrift::MemoryBufferTransport].state).to eq(:native)
    expect(Thrift::MemoryBufferTransport.instance_method(:read).source_location).to be_nil
  end

  describe "#read" do
    it "uses up what there is when there is too little" do
      transport = memory("abc")
      expect { transport.read(4) }.to raise_error(EOFError, "Not enough bytes remain in memory buffer")
      expect(transport.available).to eq(0)
    end

    it "refuses a negative size" do
      transport = memory("abc")
      expect { transport.read(-1) }.to raise_error(Thrift::TransportException, "Negative size") do |e|
        expect(e.type).to eq(5)
      end
      expect(transport.read(3)).to eq("abc")
    end

    it "takes anything else that the stock method takes" do
      expect(memory("abc").read(2.9)).to eq("ab")
      expect { memory("abc").read(nil) }.to raise_error(TypeError)
      expect { memory("abc").read(2**80) }.to raise_error(RangeError)
    end

    it "drops what was read once it is 4 KiB" do
      transport = memory("x" * 5000)
      transport.read(4095)
      expect(state(transport).map(&:size)).to eq([5000, 8])
      transport.read(1)
      expect(state(transport)).to eq(["x" * 904, 0])
    end

    it "gives strings that are the caller's own" do
      transport = memory("x" * 3000)
      first = transport.read(2000)
      first << "changed"
      first.setbyte(0, 0)
      expect(transport.read(1000)).to eq("x" * 1000)
    end
  end

  describe "#read_all" do
    it "leaves what there is when there is too little" do
      transport = memory("abc")
      expect { transport.read_all(4) }.to raise_error(EOFError)
      expect(transport.read_all(3)).to eq("abc")
    end

    it "refuses a negative size" do
      expect { memory("abc").read_all(-1) }.to raise_error(Thrift::TransportException, "Negative size")
    end
  end

  describe "#read_byte" do
    it "gives 0 to 255" do
      transport = memory("\x00\x7f\x80\xff".b)
      expect(Array.new(4) { transport.read_byte }).to eq([0, 127, 128, 255])
      expect { transport.read_byte }.to raise_error(EOFError, "Not enough bytes remain in memory buffer")
    end
  end

  describe "#read_into_buffer" do
    it "needs room" do
      expect { memory("abc").read_into_buffer(+"", 1) }.to raise_error(IndexError)
      expect { memory("abc").read_into_buffer("xxx".freeze, 1) }.to raise_error(FrozenError)
    end

    it "tells when there is too little" do
      buffer = +"-----"
      expect { memory("abc").read_into_buffer(buffer, 4) }.to raise_error(EOFError)
    end

    it "may be given the transport's own buffer" do
      transport = memory("abcdef")
      expect(transport.read_into_buffer(transport.instance_variable_get(:@buf), 3)).to eq(3)
    end

    it "leaves strings alone that share their memory with the buffer" do
      transport = memory("abc")
      original = "-" * 100
      buffer = original.dup
      transport.read_into_buffer(buffer, 3)
      expect(buffer).to start_with("abc-")
      expect(original).to eq("-" * 100)
    end
  end

  describe "#write" do
    it "raises what the stock method raises" do
      expect { memory.write(nil) }.to raise_error(NoMethodError)
      expect { memory.write(:symbol) }.to raise_error(NoMethodError)
    end

    it "changes the encoding of the caller's string as the stock method does, and copies a frozen one" do
      string = +"caf\u00e9"
      memory.write(string)
      expect(string.encoding).to eq(Encoding::BINARY)
      expect { memory.write("caf\u00e9") }.not_to raise_error
    end

    it "takes the buffer itself" do
      transport = memory("ab" * 50)
      transport.write(transport.instance_variable_get(:@buf))
      expect(transport.read(200)).to eq("ab" * 100)
    end
  end

  describe "what programs do with it" do
    it "leaves subclasses, singleton methods and tampered state to the stock methods" do
      subclass = Class.new(Thrift::MemoryBufferTransport) do
        def read(size)
          super(size).upcase
        end
      end
      transport = subclass.new
      transport.write("abc")
      expect(transport.read(3)).to eq("ABC")

      single = memory("abc")
      def single.read(size)
        super(size).reverse
      end
      expect(single.read(3)).to eq("cba")

      odd = memory("abc")
      odd.instance_variable_set(:@index, 2**70)
      expect { odd.read(1) }.to raise_error(RangeError)
    end

    it "sees what programs put into @buf and @index" do
      transport = memory("abc")
      transport.instance_variable_set(:@buf, +"hello")
      transport.instance_variable_set(:@index, 1)
      expect(transport.read(4)).to eq("ello")
    end

    it "can be dumped, loaded, copied and frozen" do
      transport = memory("abc")
      transport.read(1)
      expect(Marshal.load(Marshal.dump(transport)).read(2)).to eq("bc")
      expect(transport.dup.read(2)).to eq("bc")
      transport.freeze
      expect { transport.read(1) }.to raise_error(FrozenError)
    end

    it "keeps the order of the instance variables" do
      expect(memory.instance_variables).to eq([:@buf, :@index])
    end
  end
end
