# frozen_string_literal: true

# The child's end of a conversation with `Child`: one JSON object a line comes in on the standard input, and one a line
# goes out on the standard output. The end of the input ends the process, so that no child survives its parent.
#
# Parses on Ruby 2.6, because a server may run under JRuby.

require "json"

module ThriftBenchmark
  module Conversation
    OPTIONS = JSON.parse(ENV.fetch("THRIFT_BENCHMARK_OPTIONS"))

    module_function

    # Answers each command by the block's value.
    # @param greeting [Hash] what the parent hears first
    def run(greeting)
      replies = $stdout.dup
      $stdout = $stderr
      replies.sync = true
      replies.puts(JSON.generate(greeting))
      while (line = $stdin.gets)
        replies.puts(JSON.generate(yield(JSON.parse(line))))
      end
    rescue Errno::EPIPE, Interrupt
      nil
    end
  end
end
