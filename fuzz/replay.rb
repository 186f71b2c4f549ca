# frozen_string_literal: true

# Prints what comes of each file of the corpus, with whatever is loaded.
require_relative "target"

Dir[File.join(Fuzz::CORPUS, "*")].sort.each do |file|
  outcome = begin
    Fuzz.outcome(File.binread(file))
  rescue Exception => e # rubocop:disable Lint/RescueException -- a find
    "#{e.class}: #{e.message}"
  end
  puts "#{File.basename(file)}\t#{outcome.gsub(" (max_string_size)", "").inspect}"
end
