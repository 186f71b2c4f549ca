# frozen_string_literal: true

# This end of the proof: opens connections with Thrift::Socket, says something, and closes.
#
# Standard input, a line each:
#   close SCENARIO HOST PORT CLOSES LINGER  prints "closed"; LINGER is "off" (linger(false, 0)), "default" (untouched)
#                                           or "reset" (linger(true, 0))
#   time_wait PORT                          prints how many connections to PORT are in TIME_WAIT here

require "thrift/native"
require_relative "../fixtures/load"
require_relative "../support/observed_peer"

# Each scenario is what is said on one connection, its close included.
class Closer
  MEGABYTE = 1 << 20

  def initialize(host, port, linger)
    @host = host
    @port = port
    @linger = linger
  end

  def run(scenario, closes)
    return exit_without_close(closes) if scenario == :exit_without_close

    closes.times { |i| connect { |client, transport| send(scenario, client, transport, i) } }
  end

  private

  def open
    socket = Thrift::Socket.new(@host, @port, 60)
    socket.linger(false, 0) if @linger == "off"
    socket.linger(true, 0) if @linger == "reset"
    transport = Thrift::FramedTransport.new(socket)
    transport.open
    [Fixtures::Echo::Client.new(Thrift::BinaryProtocol.new(transport)), transport]
  end

  def connect
    client, transport = open
    yield client, transport
    transport.close
  end

  def call(client)
    client.fail("four") == 4 or raise "a wrong answer"
  end

  def bytes(size)
    (@bytes ||= {})[size] ||= "x".b * size
  end

  def calls(client, _transport, index)
    (1 + (index % 3)).times { call(client) }
  end

  def oneway(client, _transport, _index)
    client.notify(bytes(10_000))
  end

  def call_then_oneway(client, _transport, _index)
    call(client)
    client.notify(bytes(100_000))
  end

  # Half of them when the answer is there already: the kernel itself resets then.
  def unread_reply(client, transport, index)
    call(client)
    client.send_fail("four")
    IO.select([transport.instance_variable_get(:@transport).instance_variable_get(:@handle)]) if index.odd?
  end

  def large_write(client, _transport, _index)
    client.notify(bytes(MEGABYTE))
  end

  # The one with which the default has to be right, not only careful.
  def oneway_then_call(client, _transport, _index)
    client.notify(bytes(MEGABYTE))
    call(client)
  end

  def small_oneway_then_call(client, _transport, _index)
    client.notify(bytes(10_000))
    call(client)
  end

  # The child goes on with a connection that this process has closed, or the other way round.
  def forked_child(client, transport, index)
    call(client)
    child = fork do
      if index.even?
        client.notify(bytes(100_000))
      else
        transport.close
      end
      exit!(0)
    end
    if index.even?
      transport.close
      Process.wait(child)
    else
      Process.wait(child)
      client.notify(bytes(100_000))
    end
  end

  def exit_without_close(closes)
    each = 20
    (closes / each).times do |i|
      child = fork do
        $kept = Array.new(each) do |n|
          open.tap do |client, _transport|
            call(client)
            client.notify(bytes(100_000)) if n.odd?
          end
        end
        i.even? ? exit!(0) : exit
      end
      Process.wait(child)
    end
  end
end

$stdout.sync = true
while (line = $stdin.gets)
  command, *args = line.split
  if command == "close"
    scenario, host, port, closes, linger = args
    Closer.new(host, port.to_i, linger).run(scenario.to_sym, closes.to_i)
    puts "closed"
  else
    puts TimeWait.count(args[0].to_i)
  end
end
