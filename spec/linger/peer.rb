# frozen_string_literal: true

# The other end of the proof: answers framed calls of the Echo service, a thread for each connection, and takes down how
# many bytes each connection delivered and how it ended. Stock thrift and Ruby's own sockets: what it sees is what any
# peer would see.
#
# Standard input, a line each:
#   listen HOST PACE  prints a port; PACE is "fast", or "slow": a small receive buffer, and a nap after each read
#   ends N            waits for N ends and prints them as JSON: {"bytes how": count}

ENV["THRIFT_NATIVE"] = "0"
require "json"
require "socket"
require "timeout"
require_relative "../fixtures/load"

ends = Thread::Queue.new
processor = Fixtures::Echo::Processor.new(Fixtures::Handler.new)

answer = lambda do |message|
  output = Thrift::MemoryBufferTransport.new
  processor.process(
    Thrift::BinaryProtocol.new(Thrift::MemoryBufferTransport.new(message)), Thrift::BinaryProtocol.new(output)
  )
  reply = output.read(output.available)
  reply.empty? ? reply : [reply.bytesize].pack("N") + reply
end

serve = lambda do |socket, slow|
  received = 0
  pending = "".b
  begin
    loop do
      chunk = socket.readpartial(slow ? 16_384 : 262_144)
      received += chunk.bytesize
      pending << chunk
      sleep(0.001) if slow
      while pending.bytesize >= 4 && pending.bytesize >= (size = pending.unpack1("N")) + 4
        message = pending.byteslice(4, size)
        pending = pending.byteslice((size + 4)..-1)
        socket.write(answer.call(message))
      end
    end
  rescue EOFError
    ends << "#{received} eof"
  rescue SystemCallError => e
    ends << "#{received} #{e.class.name}"
  ensure
    socket.close
  end
end

listen = lambda do |host, slow|
  listener = Socket.new(:INET, :STREAM)
  listener.setsockopt(:SOCKET, :RCVBUF, 32_768) if slow
  listener.bind(Addrinfo.tcp(host, 0))
  listener.listen(1024)
  Thread.new do
    loop { Thread.new(listener.accept.first, slow, &serve) }
  end
  listener.local_address.ip_port
end

count = lambda do |expected|
  seen = Hash.new(0)
  begin
    Timeout.timeout(60) { expected.times { seen[ends.pop] += 1 } }
  rescue Timeout::Error
    seen["0 missing"] = expected - seen.values.sum
  end
  JSON.generate(seen)
end

$stdout.sync = true
while (line = $stdin.gets)
  command, *args = line.split
  puts(command == "listen" ? listen.call(args[0], args[1] == "slow") : count.call(args[0].to_i))
end
