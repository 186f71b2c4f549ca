# frozen_string_literal: true

namespace :linger do
  desc "Show that closing by reset loses nothing; a minute, or LINGER_CLOSES=20000 for all of it"
  task(proof: Rake::Task.task_defined?("compile") ? [:compile] : []) do
    require_relative "proof"
    LingerProof.new(closes: Integer(ENV.fetch("LINGER_CLOSES", "1500"))).run or abort
  end
end
