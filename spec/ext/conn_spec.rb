# frozen_string_literal: true

require "openssl"
require_relative "../support/pairs"

RSpec.describe "ext/thrift_native/conn.c" do
  include Pairs

  let(:ext) { Thrift::Native::Ext }

  it "is invisible" do
    tcp_pair do |socket, peer|
      peer.write("x")
      socket.read(1)
      expect(socket.handle.instance_variables).to eq([])
      expect(socket.instance_variables).not_to include(:__tn_conn)
    end
  end

  it "hangs on nothing but exact IOs" do
    reader, writer = IO.pipe
    one, two = UNIXSocket.pair
    subclassed = Class.new(UNIXSocket).for_fd(one.fileno)
    subclassed.autoclose = false
    [nil, 1, :handle, Object.new, reader, subclassed].each do |handle|
      expect(ext.adopt(handle, true)).to be_nil
      expect(ext.handshake_later(handle, 1)).to be(false)
      expect(ext.expose(handle)).to be(handle)
    end
    def two.read_nonblock(*)
      "mine"
    end
    expect(ext.handshake_later(one, 1)).to be(false)
    expect(ext.adopt(two, true)).to be_nil
    [reader, writer, one, two].each(&:close)
  end

  it "takes closed and frozen handles" do
    one, two = UNIXSocket.pair
    one.close
    expect(ext.adopt(one, true)).to be_nil
    expect(ext.adopt(two.freeze, true)).to be_nil
  end

  it "lives and dies with its handle" do
    1000.times do
      one, two = UNIXSocket.pair
      ext.adopt(one, true)
      ext.adopt(two, false)
      one.close
      two.close
    end
    GC.start
    compact
    tcp_pair do |socket, peer|
      GC.start
      compact
      peer.write("alive")
      expect(socket.read_all(5)).to eq("alive")
    end
  end

  it "remembers which TLS connections have yet to shake hands" do
    one, two = UNIXSocket.pair
    ssl = OpenSSL::SSL::SSLSocket.new(one, OpenSSL::SSL::SSLContext.new)
    expect(ext.handshake_pending?(ssl)).to be(false)
    expect(ext.handshake_later(ssl, 1.5)).to be(true)
    expect(ext.handshake_pending?(ssl)).to be(true)
    expect { ext.handshake_later(ssl, "soon") }.to raise_error(TypeError)
    [one, two].each(&:close)
  end
end
