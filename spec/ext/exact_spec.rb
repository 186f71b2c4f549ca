# frozen_string_literal: true

require_relative "../support/child"

RSpec.describe "ext/thrift_native/exact.c" do
  # Runs a change in a child and tells which kinds are still exact.
  def exact_after(change)
    result = Child.run(<<~RUBY)
      require "openssl"
      require "thrift/native"
      #{change}
      kinds = [:base, :socket, :ssl_socket, :unix_socket, :buffered, :framed, :memory]
      puts kinds.select { |kind| Thrift::Native::Ext.exact?(kind) }.inspect
    RUBY
    raise result.to_s unless result.success?

    result.out.lines.last.scan(/\w+/).map(&:to_sym)
  end

  all = [:base, :socket, :ssl_socket, :unix_socket, :buffered, :framed, :memory]

  {
    "nothing" => ["", []],
    "a method" => ["class Thrift::FramedTransport; def read(size); super; end; end", [:framed]],
    "define_method" => ["Thrift::FramedTransport.send(:define_method, :flush) {}", [:framed]],
    "an alias over a method" => ["Thrift::BufferedTransport.send(:alias_method, :read, :write)", [:buffered]],
    "a private method" => ["class Thrift::FramedTransport; private; def read_frame; end; end", [:framed]],
    "an inherited method" => ["class Thrift::MemoryBufferTransport; def flush; end; end", [:memory]],
    "remove_method" => ["Thrift::FramedTransport.send(:remove_method, :flush)", [:framed]],
    "undef_method" => ["Thrift::FramedTransport.send(:undef_method, :read_byte)", [:framed]],
    "a prepended module" => ["Thrift::MemoryBufferTransport.prepend(Module.new)", [:memory]],
    "an included module" => ["Thrift::MemoryBufferTransport.include(Module.new)", [:memory]],
    "a method of the sockets" => ["class Thrift::Socket; def close; end; end", [:socket, :ssl_socket, :unix_socket]],
    "a method of TLS sockets" => ["class Thrift::SSLSocket; def read(size); super; end; end", [:ssl_socket]],
    "a method of the base" => ["class Thrift::BaseTransport; def read_all(size); end; end", all],
    "a module in the base" => ["Thrift::BaseTransport.prepend(Module.new)", all],
    "a new method" => ["class Thrift::FramedTransport; def never_heard_of; end; end", []],
    "a subclass" => ["Class.new(Thrift::FramedTransport) { def read(size); end }", []],
    "a singleton method" => ["def (Thrift::FramedTransport.new(nil)).read(size); end", []],
    "a hook of the class's own" =>
      ["class Thrift::FramedTransport; def self.method_added(name); end; def read(size); end; end", [:framed]]
  }.each do |name, (change, inexact)|
    it "sees #{name}" do
      expect(exact_after(change)).to eq(all - inexact)
    end
  end

  it "knows only the kinds that there are" do
    expect { Thrift::Native::Ext.exact?(:nonsense) }.to raise_error(ArgumentError, /nonsense/)
    expect { Thrift::Native::Ext.exact?("framed") }.to raise_error(TypeError)
  end

  # The places of instance variables are found with a probe.
  describe "instance variables" do
    it "are found in objects of any history" do
      transport = Thrift::FramedTransport.allocate
      expect { transport.read(1) }.to raise_error(NoMethodError)
      transport.instance_variable_set(:@odd, 1)
      transport.instance_variable_set(:@index, 0)
      transport.instance_variable_set(:@write, true)
      transport.instance_variable_set(:@read, true)
      transport.instance_variable_set(:@wbuf, "".b)
      transport.instance_variable_set(:@rbuf, "abc".b)
      expect(transport.read(2)).to eq("ab")
      transport.write("x")
      expect(transport.instance_variable_get(:@wbuf)).to eq("x")
      expect(transport.instance_variable_get(:@index)).to eq(2)
      transport.remove_instance_variable(:@wbuf)
      expect { transport.write("y") }.to raise_error(NoMethodError)
      transport.remove_instance_variable(:@index)
      expect { transport.read(1) }.to raise_error(NoMethodError)
    end

    it "may be many" do
      transport = Thrift::MemoryBufferTransport.new
      40.times { |i| transport.instance_variable_set(:"@more#{i}", i) }
      transport.write("abc")
      expect(transport.read(2)).to eq("ab")
      expect(transport.instance_variable_get(:@index)).to eq(2)
      expect(transport.instance_variable_get(:@more0)).to eq(0)
    end
  end
end
