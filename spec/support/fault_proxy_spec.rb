# frozen_string_literal: true

require_relative "fault_proxy"

RSpec.describe FaultProxy do
  # A server of one connection, which it hands to the block with the client's end.
  def through(**faults)
    listener = TCPServer.new("127.0.0.1", 0)
    described_class.start(listener.addr[1], **faults) do |proxy|
      client = TCPSocket.new("127.0.0.1", proxy.port)
      server = listener.accept
      begin
        yield client, server, proxy
      ensure
        [client, server].each(&:close)
      end
    end
  ensure
    listener.close
  end

  it "passes everything on, both ways, and the ends as well" do
    through do |client, server, proxy|
      client.write("x" * 100_000)
      client.close_write
      expect(server.read).to eq("x" * 100_000)
      server.write("answer")
      server.close_write
      expect(client.read).to eq("answer")
      expect(proxy).to have_attributes(passed: [100_000, 6], connections: 1)
    end
  end

  it "passes single bytes" do
    through(down: { one_byte: 0.05 }) do |client, server|
      server.write("abc")
      expect(Array.new(3) { client.readpartial(10) }).to eq(["a", "b", "c"])
    end
  end

  it "delays" do
    through(up: { delay: 0.2 }) do |client, server|
      client.write("a")
      expect(server.wait_readable(0.05)).to be_nil
      expect(server.readpartial(1)).to eq("a")
    end
  end

  it "cuts after so many bytes" do
    through(down: { cut: 3 }) do |client, server|
      server.write("abcdef")
      expect(client.read).to eq("abc")
    end
  end

  it "resets both ends after so many bytes" do
    through(up: { reset: 3 }) do |client, server|
      client.write("abcdef")
      expect { server.read }.to raise_error(Errno::ECONNRESET)
      expect { client.read }.to raise_error(Errno::ECONNRESET)
    end
  end

  it "stops reading after so many bytes" do
    through(up: { stall: 0 }, buffer: 4096) do |client, server|
      written = 0
      loop { written += client.write_nonblock("x" * 10_000) }
    rescue IO::WaitWritable
      expect(written).to be < 10_000_000
      expect(client.wait_writable(0.1)).to be_nil
      expect(server.wait_readable(0)).to be_nil
    end
  end

  it "hides the end of a connection" do
    through(up: { half_open: 2 }) do |client, server|
      client.write("abc")
      expect(server.readpartial(10)).to eq("ab")
      client.close
      expect(server.wait_readable(0.2)).to be_nil
    end
  end

  it "knows no other faults" do
    expect { described_class.new(1, up: { cutt: 1 }) }.to raise_error(ArgumentError, /cutt/)
  end

  it "leaves no thread" do
    before = Thread.list
    through(up: { stall: 0 }) { nil }

    expect(Thread.list - before).to eq([])
  end
end
