# frozen_string_literal: true

require_relative "servers"

# Every method of Echo, once, with what must come back.
module Exercise
  # What a server and its clients may agree on, as arguments of Servers.start.
  COMBINATIONS = Servers::OVER.product(Servers::TRANSPORTS, Servers::PROTOCOLS).map do |over, transport, protocol|
    { over: over, transport: transport, protocol: protocol }
  end

  module_function

  # @param client [Fixtures::Echo::Client]
  # @return [Array<String>] what was wrong
  def problems(client)
    wrong = answers(small_for(client)).reject { |_, (call, expected)| call.call(client) == expected }.keys
    wrong += errors.reject { |how, expected| error_of(client, how) == expected }.keys
    wrong << "notify" unless notified?(client)
    wrong
  end

  # Starts a server for each of +combinations+ and yields them all.
  # @param how [Hash] more arguments of Servers.start
  # @yieldparam servers [Hash{Hash => Servers::Running}]
  def serve(combinations = COMBINATIONS, servers = {}, **how, &block)
    first, *rest = combinations
    return yield(servers) unless first

    Servers.start(workers: 2, **first, **how) do |server|
      serve(rest, servers.merge(first => server), **how, &block)
    end
  end

  # JsonProtocol returns text as BINARY before thrift 0.25.
  def small_for(client)
    faithful = !client.instance_variable_get(:@iprot).is_a?(Thrift::JsonProtocol) || json_faithful?
    faithful ? Fixtures.small : Fixtures.small.tap { |small| small.text = "cafe" }
  end

  def json_faithful?
    protocol = Thrift::JsonProtocol.new(Thrift::MemoryBufferTransport.new)
    protocol.write_string("\u00e9")
    protocol.read_string == "\u00e9"
  end

  def answers(small)
    {
      "echo" => [->(c) { c.echo(small) }, small],
      "item" => [->(c) { c.item(Fixtures.item) }, Fixtures.item],
      "batch" => [->(c) { c.batch(Fixtures.batch(20)) }, Fixtures.batch(20)],
      "nums" => [->(c) { c.nums(Fixtures.nums(50)) }, Fixtures.nums(50)],
      "empty" => [->(c) { c.batch(Fixtures::Batch.new(items: [], weights: {})) },
                  Fixtures::Batch.new(items: [], weights: {})],
      "blob" => [->(c) { [0, 1, 70_000].map { |size| c.blob(size) } }, [0, 1, 70_000].map { |n| Fixtures.bytes(n) }],
      "nothing" => [->(c) { c.nothing }, nil],
      "fail, without one" => [->(c) { c.fail("no") }, 2],
      "sleepy" => [->(c) { c.sleepy(5) }, Fixtures.bytes(5)]
    }
  end

  def errors
    {
      "oops" => [Fixtures::Oops, "oops", 7],
      "bug" => [Thrift::ApplicationException, "Internal error", Thrift::ApplicationException::INTERNAL_ERROR]
    }
  end

  def error_of(client, how)
    client.fail(how)
  rescue Fixtures::Oops => e
    [e.class, e.message, e.code]
  rescue Thrift::ApplicationException => e
    [e.class, e.message, e.type]
  end

  # NonblockingServer hands the messages of a connection to any worker, so the oneway call may be overtaken.
  def notified?(client)
    before = client.fail("notified")
    client.notify(Fixtures.bytes(3000))
    200.times do
      return true if client.fail("notified") == before + 1

      sleep(0.005)
    end
    false
  end

  private_class_method :small_for, :json_faithful?, :answers, :errors, :error_of, :notified?
end
