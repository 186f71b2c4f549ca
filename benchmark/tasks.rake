# frozen_string_literal: true

# Each task runs the stock gem and ours in turns, prints a table, and writes it to benchmark/results/. Sizes come from
# the environment; benchmark/README.md lists the variables. TN_SMOKE=1 runs everything at its smallest.

# However a task ends, its child processes end first.
run_benchmark = lambda do |file, name|
  require_relative "support/child"
  require_relative file
  begin
    ThriftBenchmark::Child.guard { ThriftBenchmark.const_get(name).run }
  rescue Interrupt
    abort "\nInterrupted"
  rescue ThriftBenchmark::Child::Failed => e
    abort "\n#{e.message}"
  end
end

# As for the specs: where there is no extension there is nothing to compile.
native = Rake::Task.task_defined?("compile") && ENV["THRIFT_NATIVE_PURE"] != "1" && RUBY_ENGINE == "ruby"
built = native ? [:compile] : []

desc "Stock gem against ours: a loaded server, plain and TLS, and single calls (under two minutes)"
task(benchmark: built) { run_benchmark.call("pool", :Pool) }

namespace :benchmark do
  desc "One connection on one core: p50, CPU and objects a call (THRIFT_TRANSPORT, THRIFT_PROTOCOL, THRIFT_NUM_CALLS)"
  task(rpc: built) { run_benchmark.call("rpc", :Rpc) }

  desc "TLS: calls on one connection, handshakes of many clients (THRIFT_NUM_CALLS, THRIFT_NUM_PROCESSES)"
  task(tls: built) { run_benchmark.call("tls", :Tls) }

  desc "Connect, one call, close: server CPU a connection (THRIFT_NUM_CLIENTS, BENCHMARK_WORKERS)"
  task(connections: built) { run_benchmark.call("connections", :Connections) }

  desc "Sockets in TIME_WAIT after 40 x 1000 x 1 (THRIFT_NUM_PROCESSES, THRIFT_NUM_CLIENTS, THRIFT_NUM_CALLS)"
  task(linger: built) { run_benchmark.call("linger", :Linger) }

  desc "System calls a call, by name; needs strace (THRIFT_TRANSPORT, THRIFT_PROTOCOL, THRIFT_NUM_CALLS)"
  task(syscalls: built) { run_benchmark.call("syscalls", :Syscalls) }

  desc "Codec: bytes from and to objects, against the stock gem and others (BENCHMARK_SHAPES, THRIFT_PROTOCOL)"
  task(codec: built) { run_benchmark.call("codec", :Codec) }

  desc "Install what benchmark:codec is compared with, below benchmark/peers/vendor"
  task(:peers) { sh File.join(__dir__, "peers/setup") }
end
