# frozen_string_literal: true

require_relative "statistics"

module ThriftBenchmark
  # One line of a table: the same work measured with the stock gem and with ours, in as many rounds of each. A round of
  # one side directly follows a round of the other, so the ratio is taken round by round: what slows the machine down
  # for a while slows both.
  class Row
    # Above this spread of the rounds' ratios a row is called noisy.
    NOISY = 0.15

    attr_reader :work, :measure, :unit, :goal, :stock, :ours

    # @param unit [String] "us", "ms", "s" (given in seconds), or anything else (given as is)
    # @param better [Symbol] :less or :more
    # @param goal [Float, nil] the ratio wanted
    def initialize(work, measure, unit, stock:, ours:, better: :less, goal: nil)
      @work = work
      @measure = measure
      @unit = unit
      @stock = stock
      @ours = ours
      @better = better
      @goal = goal
    end

    # How many times better ours is: the median of the rounds.
    def ratio
      Statistics.median(ratios)
    end

    def noisy?
      ratios.size < 3 || Statistics.spread(ratios) > NOISY
    end

    def cells
      [work, measure, show(stock), show(ours), format("%.2fx", ratio), note]
    end

    def to_h
      { work: work, measure: measure, unit: unit, better: @better, stock: stock, ours: ours, ratio: ratio.round(3),
        goal: goal, noisy: noisy? }
    end

    private

    def ratios
      stock.zip(ours).map do |theirs, our|
        up, down = @better == :less ? [theirs, our] : [our, theirs]
        down.zero? ? (up.zero? ? 1.0 : Float::INFINITY) : up.fdiv(down)
      end
    end

    def note
      return "" if stock.size < 3 # too few to say anything

      wanted = format("goal %.2fx %s", goal, ratio >= goal ? "met" : "missed") if goal
      [wanted, (noise if noisy?)].compact.join(", ")
    end

    def noise
      format("noisy (+-%d %%)", (Statistics.spread(ratios) * 50).ceil)
    end

    # What stands for all the rounds.
    def typical(numbers)
      Statistics.median(numbers)
    end

    def show(numbers)
      number = typical(numbers)
      factor = { "us" => 1e6, "ms" => 1e3 }.fetch(unit, 1)
      format("%s %s", digits(number * factor), unit).strip
    end

    # Three digits, or all that are left of the point.
    def digits(number)
      format("%.*f", [2 - Math.log10([number.abs, 0.01].max).floor, 0].max.clamp(0, 2), number)
    end
  end

  # The same for loops that nothing but the machine can slow down: the best round of each side counts.
  class BestRow < Row
    def ratio
      stock.min / ours.min
    end

    # Whether a quarter of the rounds came near to the best one, on both sides.
    def noisy?
      stock.size < 3 || [stock, ours].any? { |numbers| distance(numbers) > NOISY }
    end

    private

    def distance(numbers)
      (Statistics.quantile(numbers, 0.25) / numbers.min) - 1
    end

    def typical(numbers)
      numbers.min
    end

    def noise
      format("noisy (+%d %%)", ([stock, ours].map { |numbers| distance(numbers) }.max * 100).ceil)
    end
  end
end
