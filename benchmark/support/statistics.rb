# frozen_string_literal: true

module ThriftBenchmark
  # Numbers of several rounds.
  module Statistics
    module_function

    def quantile(numbers, part)
      sorted = numbers.sort
      position = part * (sorted.size - 1)
      low = sorted[position.floor]
      low + ((sorted[position.ceil] - low) * (position - position.floor))
    end

    def median(numbers)
      quantile(numbers, 0.5)
    end

    # How far the middle half of the numbers is spread, relative to their median.
    def spread(numbers)
      middle = median(numbers)
      middle.zero? ? 0.0 : (quantile(numbers, 0.75) - quantile(numbers, 0.25)) / middle
    end
  end
end
