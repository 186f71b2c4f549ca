# frozen_string_literal: true

require "io/wait"
require "tempfile"
require_relative "support/bench"
require_relative "support/certificate"
require_relative "support/progress"
require_relative "support/report"

module ThriftBenchmark
  # rake benchmark:syscalls: what server and client ask of the kernel for one call, once a connection is warm.
  module Syscalls
    HEADINGS = ["system call", "server, stock", "server, ours", "client, stock", "client, ours"].freeze
    # Moving bytes, and waiting for them.
    ON_SOCKETS = %w[read readv recvfrom recvmsg write writev sendto sendmsg poll ppoll select pselect6 epoll_wait
                    epoll_pwait].freeze
    # Seconds that the other end takes, before each call or in the handler. A traced process is so slow that
    # it would always find its input there, and never wait for it as it does in life.
    PAUSE = 0.001
    # Fewer a call than this are the benchmark's own conversation with the process, and the VM's housekeeping.
    RARE = 0.02

    module_function

    def run
      count = Settings.integer("THRIFT_NUM_CALLS", 1000, 20)
      methods = Settings.list("BENCHMARK_METHODS", ["echo"], Service::METHODS)
      transports = Settings.list("THRIFT_TRANSPORT", %w[framed buffered], %w[framed buffered])
      tls = Settings.true?(ENV.fetch("THRIFT_TLS", nil))
      report = Report.new("benchmark-syscalls", "calls" => count, "tls" => tls)
      work = transports.product(methods, Settings.protocols)
      Progress.over("syscalls", work.size * Pair::SIDES.size * 2) do |bar|
        Certificate.with(:ec) do |paths|
          work.each do |transport, method, protocol|
            options = paths.merge("transport" => transport, "protocol" => protocol, "tls" => tls,
                                  "server" => Settings.server)
            title = "A call of #{method}, #{Settings.server}, #{transport}, #{protocol}#{", TLS" if tls}"
            report.table(title, HEADINGS, cells(measure(options, method, count, report, bar)))
          end
        end
      end
      report.finish
    end

    # @return [Array<Hash{String => Float}>] calls by name, in the order of HEADINGS
    def measure(options, method, count, report, bar)
      %i[server client].flat_map do |process|
        pauses = process == :server ? [0, PAUSE] : [PAUSE, 0]
        Pair.open(options.merge("pause" => pauses[0])) do |pair|
          report.native(pair.native)
          pair.benches.map do |bench|
            traced(bench, bench.public_send(process), method, count, pauses[1]).tap { bar.increment }
          end
        end
      end
    end

    def traced(bench, process, method, count, pause)
      bench.client.ask("do" => "open", "method" => method, "warm_up" => [count / 10, 10].max)
      counts = strace(process.pid) { bench.client.ask("do" => "calls", "count" => count, "pause" => pause) }
      bench.client.ask("do" => "close")
      counts.transform_values { |number| number.fdiv(count) }
    end

    # @return [Hash{String => Integer}] what the process and its threads called while the block ran
    def strace(pid)
      Tempfile.create("thrift-benchmark") do |summary|
        messages, messages_in = IO.pipe
        tracer = Process.spawn("strace", "-f", "-c", "-o", summary.path, "-p", pid.to_s, err: messages_in, pgroup: true)
        messages_in.close
        attached(messages)
        yield
        Process.kill(:INT, tracer)
        Process.wait(tracer)
        tracer = nil
        parse(File.read(summary.path))
      ensure
        messages&.close
        detach(tracer) if tracer
      end
    rescue Errno::ENOENT
      raise Child::Failed, "benchmark:syscalls needs strace"
    end

    # strace names each thread as it attaches to it; all are there when it has said nothing for a while.
    def attached(messages)
      text = +""
      text << messages.readpartial(4096) while messages.wait_readable(text.empty? ? 5 : 0.3)
    rescue EOFError
      raise Child::Failed, "strace can't attach: #{text}"
    end

    def detach(tracer)
      Process.kill(:INT, tracer)
      Process.wait(tracer)
    rescue Errno::ESRCH, Errno::ECHILD
      nil
    end

    # The lines are "% time, seconds, usecs/call, calls, [errors,] name".
    def parse(text)
      text.scan(/^\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)\s+(?:\d+\s+)?(\w+)$/).reject { |_, name| name == "total" }
          .map { |number, name| [name, number.to_i] }.to_h
    end

    def cells(counts)
      names = counts.flat_map(&:keys).uniq.select { |name| counts.any? { |column| column.fetch(name, 0) >= RARE } }
      names = names.sort_by { |name| -counts.sum { |column| column.fetch(name, 0) } }
      rows = names.map { |name| [name, *counts.map { |column| column.fetch(name, 0) }] }
      rows << ["others", *counts.map { |column| column.reject { |name, _| names.include?(name) }.values.sum }]
      rows << ["on sockets", *counts.map { |column| column.slice(*ON_SOCKETS).values.sum }]
      rows << ["all", *counts.map { |column| column.values.sum }]
      rows.map { |name, *numbers| [name, *numbers.map { |number| format("%.2f", number) }] }
    end
  end
end
