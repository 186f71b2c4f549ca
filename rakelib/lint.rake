# frozen_string_literal: true

def tool?(name)
  ENV["PATH"].split(File::PATH_SEPARATOR).any? { |dir| File.executable?(File.join(dir, name)) }
end

desc "Check the style of Ruby (rubocop) and C (clang-format), with whichever of them is installed"
task :lint do
  # rubocop is no part of the bundle: it would limit which Rubies the bundle installs on.
  if tool?("rubocop")
    Bundler.with_unbundled_env { sh "rubocop" }
  else
    puts "lint: rubocop is not installed (gem install rubocop)"
  end
  if tool?("clang-format")
    sh "clang-format", "--dry-run", "-Werror", *Dir["ext/**/*.{c,h}"]
  else
    puts "lint: clang-format is not installed"
  end
end
