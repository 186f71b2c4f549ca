# frozen_string_literal: true

# Full TLS handshakes, one after the other, by Ruby's own OpenSSL alone: no Thrift here, so that both sides meet the
# same client, and no verification and no session reuse, so that nearly all of the work is the server's.

require "json"
require "openssl"
require "socket"

options = JSON.parse(ENV.fetch("THRIFT_BENCHMARK_OPTIONS"))
context = OpenSSL::SSL::SSLContext.new
context.verify_mode = OpenSSL::SSL::VERIFY_NONE
context.session_cache_mode = OpenSSL::SSL::SSLContext::SESSION_CACHE_OFF

$stdout.sync = true
puts JSON.generate("ready" => true, "native" => {})
while (line = $stdin.gets)
  seconds = JSON.parse(line).fetch("seconds")
  shaken = 0
  errors = []
  finish = Process.clock_gettime(Process::CLOCK_MONOTONIC) + seconds
  while Process.clock_gettime(Process::CLOCK_MONOTONIC) < finish
    begin
      tcp = TCPSocket.new(options.fetch("host"), options.fetch("port"))
      tls = OpenSSL::SSL::SSLSocket.new(tcp, context)
      tls.sync_close = true
      tls.connect
      shaken += 1
      tls.close
    rescue SystemCallError, OpenSSL::SSL::SSLError => e
      errors << "#{e.class}: #{e.message}"
      tcp&.close
    end
  end
  puts JSON.generate("handshakes" => shaken, "errors" => errors.size, "error" => errors.first)
end
