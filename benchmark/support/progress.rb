# frozen_string_literal: true

require "ruby-progressbar"

module ThriftBenchmark
  # A bar with the time left, on the standard error so that the tables can be piped away.
  module Progress
    module_function

    # @param steps [Integer] how many times the block's argument will be told to `step`
    # @yieldparam bar [#increment, #title=]
    def over(title, steps)
      bar = ProgressBar.create(title: title, total: steps, format: "%t |%B| %p%% %e", output: $stderr, length: 100)
      yield bar
    ensure
      bar&.stop unless bar&.finished?
    end
  end
end
