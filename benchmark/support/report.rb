# frozen_string_literal: true

require "etc"
require "fileutils"
require "json"
require "openssl"
require "terminal-table"

module ThriftBenchmark
  # Tables on the terminal, and the same as Markdown and JSON under benchmark/results/.
  class Report
    DIRECTORY = File.expand_path("../results", __dir__)
    HEADINGS = ["work", "measure", "stock", "ours", "ratio", ""].freeze

    # @param name [String] of the task, and of the files
    # @param settings [Hash] sizes that were in force
    def initialize(name, settings)
      @name = name
      @settings = settings
      @tables = []
      @remarks = []
    end

    # @param rows [Array<Row>]
    def rows(title, rows)
      @tables << { title: title, headings: HEADINGS, cells: rows.map(&:cells), data: rows.map(&:to_h) }
    end

    # Any other table.
    def table(title, headings, cells)
      @tables << { title: title, headings: headings, cells: cells, data: cells.map { |row| headings.zip(row).to_h } }
    end

    def remark(text)
      @remarks << text unless @remarks.include?(text)
    end

    # Notes which classes were native in our server. A comparison of stock with stock must not look like one with ours.
    # @param state [Hash] see Program.native
    def native(state)
      @settings = @settings.merge("native" => state)
      return if state["active"]

      remark("Nothing is native on our side (extension: #{state["extension"]}): the figures compare stock with stock.")
    end

    def finish
      puts
      @tables.each { |table| puts terminal(table), "" }
      @remarks.each { |remark| puts remark }
      FileUtils.mkdir_p(DIRECTORY)
      File.write("#{path}.md", markdown)
      File.write("#{path}.json", JSON.pretty_generate(json))
      puts "Written to benchmark/results/#{@name}.md and .json"
    end

    # @return [Hash{String => String}] what the figures depend on
    def self.versions
      {
        "Ruby" => RUBY_DESCRIPTION, "thrift" => Gem.loaded_specs.fetch("thrift").version.to_s,
        "thrift_native" => Gem.loaded_specs["thrift_native"]&.version.to_s, "OpenSSL" => OpenSSL::OPENSSL_LIBRARY_VERSION,
        "openssl gem" => OpenSSL::VERSION, "system" => Etc.uname.values_at(:sysname, :release, :machine).join(" "),
        "CPU" => "#{Etc.nprocessors} x #{cpu}"
      }
    end

    def self.cpu
      File.foreach("/proc/cpuinfo").grep(/\Amodel name/).first.to_s.split(":", 2).last.to_s.strip
    rescue SystemCallError
      "unknown"
    end

    private

    def path
      File.join(DIRECTORY, @name)
    end

    # The variables that were set, and the task.
    def command
      set = ENV.select { |name, _| name.start_with?("THRIFT_", "BENCHMARK_") || name == "TN_SMOKE" }
      [*set.sort.map { |name, value| "#{name}=#{value}" }, "bundle exec rake", @name.tr("-", ":")].join(" ")
    end

    def terminal(table)
      Terminal::Table.new(title: table[:title], headings: table[:headings], rows: table[:cells]) do |drawn|
        numeric(table).each { |column| drawn.align_column(column, :right) }
      end
    end

    # Columns in which every cell starts with a digit.
    def numeric(table)
      table[:headings].each_index.select do |column|
        table[:cells].all? { |row| row[column].to_s.match?(/\A\d/) }
      end
    end

    def markdown
      parts = ["# #{@name.tr("-", ":")}", "`#{command}`"]
      parts << Report.versions.map { |name, value| "- #{name}: #{value}" }.join("\n")
      @tables.each do |table|
        lines = [table[:headings], table[:headings].map { "---" }, *table[:cells]]
        parts << "## #{table[:title]}" << lines.map { |cells| "| #{cells.join(" | ")} |" }.join("\n")
      end
      "#{(parts + @remarks).join("\n\n")}\n"
    end

    def json
      { task: @name.tr("-", ":"), command: command, at: Time.now.utc.strftime("%FT%TZ"), versions: Report.versions,
        settings: @settings, tables: @tables.map { |table| { title: table[:title], rows: table[:data] } },
        remarks: @remarks }
    end
  end
end
