# frozen_string_literal: true

# Writes lib/thrift/native/digests.rb afresh from the published gems. A release goes into KNOWN_THRIFTS only after
# its sources were read and the whole suite is green on it: a digest is our word that we know that file.

KNOWN_THRIFTS = %w[
  0.14.0 0.14.1 0.14.2 0.15.0 0.16.0 0.17.0 0.18.0 0.18.1 0.19.0 0.20.0 0.21.0 0.22.0 0.23.0 0.24.0 0.25.0
].freeze

# A published gem: out of a gem cache if there is one, else fetched with RubyGems' own configuration.
def published_gem(version)
  name = "thrift-#{version}.gem"
  cached = Gem.path.map { |path| File.join(path, "cache", name) }.push("tmp/thrift/#{name}").find { |f| File.file?(f) }
  return cached if cached

  mkdir_p "tmp/thrift", verbose: false
  chdir("tmp/thrift", verbose: false) { sh "gem", "fetch", "thrift", "--version", version }
  "tmp/thrift/#{name}"
end

# {"thrift/client.rb" => "<sha256>"} of one release.
def source_digests(version)
  require "rubygems/package"
  require "tmpdir"
  Dir.mktmpdir do |dir|
    Gem::Package.new(published_gem(version)).extract_files(dir)
    Dir["#{dir}/lib/**/*.rb"].sort.to_h do |file|
      [file.delete_prefix("#{dir}/lib/"), Digest::SHA256.file(file).hexdigest]
    end
  end
end

def version_range(versions)
  versions.size == 1 ? versions.first : "#{versions.first} to #{versions.last}"
end

desc "Write lib/thrift/native/digests.rb from the published thrift gems"
task :digests do
  require "digest/sha2"
  files = Hash.new { |all, file| all[file] = Hash.new { |digests, digest| digests[digest] = [] } }
  KNOWN_THRIFTS.each do |version|
    source_digests(version).each { |file, digest| files[file][digest] << version }
  end
  entries = files.sort.map do |file, digests|
    lines = digests.map { |digest, versions| "        \"#{digest}\", # #{version_range(versions)}" }
    "      \"#{file}\" => [\n#{lines.join("\n")}\n      ].freeze,\n"
  end
  File.write("lib/thrift/native/digests.rb", <<~RUBY)
    # frozen_string_literal: true

    module Thrift
      module Native
        # SHA256 of every source file of every thrift release that we know, by path below the gem's lib/.
        # Written by `rake digests`; don't edit.
        DIGESTS = {
    #{entries.join.chomp}
        }.freeze
      end
    end
  RUBY
end
