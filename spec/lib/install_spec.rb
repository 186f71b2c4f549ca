# frozen_string_literal: true

require "thrift/native"
require "tmpdir"
require_relative "installed"

# The extension is left out here and replaced by modules of the spec's own, so that the installing alone is seen.
RSpec.describe Thrift::Native::Install do
  # An implementation that no class of ours has.
  implementation = <<~RUBY
    module Thrift
      module Native
        module Impl
          module FramedTransport
            def to_s
              "ours, not \#{__stock_to_s}"
            end

            def read_all(size)
              "inherited \#{size}"
            end

            def extra; end

            private

            def read_frame; end
          end
        end
      end
    end
  RUBY
  # The stock class is loaded first, as when thrift is required before our gem is active; +between+ then runs.
  define_method(:child) do |code, between: "", thrift: Installed.thrift_paths, env: {}, early: implementation|
    Child.run(<<~RUBY, options: ["-w"], env: Installed::CLEAN.merge("THRIFT_NATIVE_PURE" => "1").merge(env))
      module Thrift; module Native; end; end
      verbose, $VERBOSE = $VERBOSE, nil
      $LOAD_PATH.unshift(*#{thrift.inspect})
      require "thrift"
      #{between}
      $VERBOSE = verbose
      $LOAD_PATH.unshift(#{Child::LIB.inspect})
      #{early}
      require "thrift/native"
      FRAMED = Thrift::FramedTransport
      LINE = Thrift::Native.status[FRAMED]
      #{code}
    RUBY
  end

  def lines(result)
    expect(result).to be_success, result.to_s
    expect(Installed.own_words(result.err)).to eq("")
    result.out.lines(chomp: true)
  end

  def expect_stock(result, reason)
    state, why, stock, extra = lines(result)
    expect(state).to eq("stock")
    expect(why).to match(reason)
    expect(stock).to eq("true")
    expect(extra).to eq("false")
  end

  stock = "puts LINE.state, LINE.reason, FRAMED.private_instance_methods(false).grep(/__stock/).empty?," \
          " FRAMED.method_defined?(:extra)"

  describe "replacing" do
    it "defines the methods in the class itself, with their visibility" do
      expect(lines(child(<<~RUBY))).to eq(%w[ruby Thrift::FramedTransport Thrift::FramedTransport true true])
        puts LINE.state, FRAMED.instance_method(:to_s).owner, FRAMED.instance_method(:extra).owner
        puts FRAMED.private_method_defined?(:read_frame), FRAMED.ancestors.first == FRAMED
      RUBY
    end

    it "keeps each stock method of the class under a private alias, and makes none for others" do
      expect(lines(child(<<~RUBY))).to eq(["__stock_read_frame __stock_to_s", "ours, not framed(base)"])
        puts (FRAMED.private_instance_methods(false).grep(/__stock/) - [:__stock_initialize]).sort.join(" ")
        puts FRAMED.new(Thrift::BaseTransport.new).to_s
      RUBY
    end

    it "lets whatever is defined later win, and be removed again" do
      expect(lines(child(<<~RUBY))).to eq(["later, ours, not framed(base)", "prepended later, ours, not framed(base)"])
        class Thrift::FramedTransport
          alias to_s_without_later to_s
          def to_s
            "later, " + to_s_without_later
          end
        end
        puts FRAMED.new(Thrift::BaseTransport.new).to_s
        FRAMED.prepend(Module.new { def to_s; "prepended " + super; end })
        puts FRAMED.new(Thrift::BaseTransport.new).to_s
      RUBY
    end

    it "happens once" do
      expect(lines(child(<<~RUBY))).to eq(["ours, not framed(base)"])
        3.times { Thrift::Native::Install.run }
        load #{File.join(Child::LIB, "thrift/native.rb").inspect}
        puts FRAMED.new(Thrift::BaseTransport.new).to_s
      RUBY
    end

    it "prefers C, and calls a class native then" do
      in_c = <<~RUBY
        module Thrift::Native::Ext
          def self.watch(*); end
          module FramedTransport
            def extra; "C"; end
          end
        end
      RUBY
      expect(lines(child("puts LINE.state, FRAMED.new(nil).extra, FRAMED.new(nil).read_all(3)",
                         early: implementation + in_c))).to eq(["native", "C", "inherited 3"])
    end
  end

  describe "a class that isn't what thrift made of it" do
    framed = ->(body) { "class Thrift::FramedTransport; #{body}; end" }
    {
      "a method that was redefined" =>
        [framed["def read(size); end"], /#read was changed before us in -e:\d+/],
      "a private hook that was redefined" =>
        [framed["private def read_frame; end"], /#read_frame was changed/],
      "an alias chain" =>
        [framed["alias read_plain read; def read(size); read_plain(size); end"], /#read was changed/],
      "a method aliased to another" =>
        [framed["alias read read_byte"], /#read was changed/],
      "an inherited method that was taken up" =>
        [framed["def read_all(size); end"], /#read_all was changed/],
      "a changed superclass" =>
        ["class Thrift::BaseTransport; def read_all(size); end; end", /BaseTransport#read_all was changed/],
      "a prepended module" =>
        ["Thrift::FramedTransport.prepend(Module.new)", /Module.* is prepended/],
      "an included module that hides what it inherits" =>
        ["Thrift::FramedTransport.include(Module.new { def read_all(size); end })", /#read_all comes in between/]
    }.each do |name, (patch, reason)|
      it "stays stock: #{name}" do
        expect_stock(child(stock, between: patch), reason)
      end
    end

    it "stays stock: a method of the very name that we add" do
      state, reason = lines(child("puts LINE.state, LINE.reason", between: framed["def extra; end"]))

      expect(state).to eq("stock")
      expect(reason).to match(/#extra was changed/)
    end

    it "is replaced all the same when only names were added that nobody calls" do
      helpers = <<~RUBY
        class Thrift::FramedTransport
          alias peer_was to_s
          def peer_name; end
        end
        Thrift::FramedTransport.include(Module.new { def metrics; end })
      RUBY
      expect(lines(child("puts LINE.state", between: helpers))).to eq(["ruby"])
    end

    it "doesn't hold up the others" do
      patch = "class Thrift::BufferedTransport; def read(size); end; end"
      expect(lines(child("puts LINE.state", between: patch))).to eq(["ruby"])
    end

    it "holds up those that need it" do
      others = <<~RUBY
        module Thrift::Native::Impl
          %w[SSLSocket ServerSocket].each { |name| const_set(name, Module.new { def extra; end }) }
        end
      RUBY
      patch = "class Thrift::Socket; def read(size); end; end"
      names = %w[Thrift::SSLSocket Thrift::ServerSocket Thrift::SSLServerSocket]
      # SSLSocket inherits the changed method; server sockets make such sockets; and so on.
      expect(lines(child("puts #{names}.map { |name| Thrift::Native.status[name].state }",
                         between: patch, early: others))).to eq(%w[stock stock stock])
    end

    context "with a thrift that no release is like" do
      def with_fork
        Dir.mktmpdir do |dir|
          FileUtils.cp_r("#{Installed::THRIFT.full_gem_path}/lib/.", dir)
          yield dir
        end
      end

      it "stays stock and says which file it is" do
        with_fork do |dir|
          File.write("#{dir}/thrift/transport/framed_transport.rb", "# a fork\n", mode: "a")
          expect_stock(child(stock, thrift: [dir, *Installed.thrift_paths.drop(1)]),
                       %r{\A#{dir}/thrift/transport/framed_transport.rb is not of a thrift release that we know})
        end
      end

      it "stays stock when it inherits from an unknown file" do
        with_fork do |dir|
          File.write("#{dir}/thrift/transport/base_transport.rb", "# a fork\n", mode: "a")
          expect_stock(child(stock, thrift: [dir]), %r{base_transport.rb is not of})
        end
      end

      it "takes a vendored copy of a known release" do
        with_fork { |dir| expect(lines(child("puts LINE.state", thrift: [dir]))).to eq(["ruby"]) }
      end
    end
  end

  describe "switches" do
    it "leaves everything stock with THRIFT_NATIVE=0" do
      expect_stock(child(stock, env: { "THRIFT_NATIVE" => "0" }), /\ATHRIFT_NATIVE=0\z/)
    end

    it "leaves a part stock, or a group of parts" do
      expect_stock(child(stock, env: { "THRIFT_NATIVE_SKIP" => "socket,framed" }), /\ATHRIFT_NATIVE_SKIP\z/)
      expect_stock(child(stock, env: { "THRIFT_NATIVE_SKIP" => "transports" }), /\ATHRIFT_NATIVE_SKIP\z/)
      expect(lines(child("puts LINE.state", env: { "THRIFT_NATIVE_SKIP" => "tls, buffered" }))).to eq(["ruby"])
    end

    it "warns of a part that doesn't exist" do
      result = child("puts LINE.state", env: { "THRIFT_NATIVE_SKIP" => "frames" })

      expect(result.out).to eq("ruby\n")
      expect(result.err).to eq("thrift_native: THRIFT_NATIVE_SKIP names \"frames\", which is no part\n")
    end
  end

  describe "the table" do
    it "names classes and files of the installed thrift, all of them in their original state" do
      rows = described_class::TABLE.map { |row| [row.name, row.source] }
      code = "puts Thrift::Native::Install::TABLE.map { |row| Thrift::Native::Stock.objection(row, []).inspect }.uniq"

      expect(rows.uniq).to eq(rows)
      expect(lines(child(code, env: { "THRIFT_NATIVE" => "0" }))).to eq(["nil"])
    end

    it "has needs that come before" do
      described_class::TABLE.each_with_index do |row, index|
        expect(described_class::TABLE.first(index).map(&:part)).to include(*row.needs) unless row.needs.empty?
      end
    end

    it "has digests of every source" do
      expect(Thrift::Native::DIGESTS.keys).to include(*described_class::TABLE.map { |row| "thrift/#{row.source}.rb" })
    end
  end

  describe Thrift::Native::Exactness do
    # An extension that tells what it's told.
    spy = <<~RUBY
      module Thrift::Native::Ext
        def self.watch(kind, klass); (@watched ||= []) << "\#{kind}=\#{klass}"; end
        def self.touched(klass); puts "touched \#{klass}"; end
        def self.watched; @watched; end
        module FramedTransport; def extra; end; end
      end
    RUBY
    define_method(:told) { |code, **how| lines(child(code, early: spy, **how)) }

    it "has the extension watch the native classes and their base" do
      expect(told("puts Thrift::Native::Ext.watched"))
        .to include("framed=Thrift::FramedTransport", "base=Thrift::BaseTransport")
    end

    it "leaves out a class that stayed stock" do
      expect(told("puts Thrift::Native::Ext.watched", env: { "THRIFT_NATIVE_SKIP" => "framed" }))
        .not_to include(/framed/)
    end

    {
      "def" => "class Thrift::FramedTransport; undef read; def read(size); end; end",
      "define_method" => "FRAMED.send(:define_method, :read_frame) { nil }",
      "alias_method" => "FRAMED.send(:alias_method, :read_byte, :read)",
      "remove_method" => "FRAMED.send(:remove_method, :read)",
      "undef_method" => "FRAMED.send(:undef_method, :read)",
      "an inherited method taken up" => "class Thrift::FramedTransport; def read_all(size); end; end",
      "method_missing" => "class Thrift::FramedTransport; def method_missing(*); super; end; end"
    }.each do |name, code|
      it "notices #{name}" do
        expect(told("$VERBOSE = nil; #{code}").uniq).to eq(["touched Thrift::FramedTransport"])
      end
    end

    it "notices a change of the base" do
      expect(told("$VERBOSE = nil; class Thrift::BaseTransport; def read_all(size); end; end"))
        .to eq(["touched Thrift::BaseTransport"])
    end

    it "doesn't mind subclasses, names that nobody knew, and singleton methods" do
      expect(told(<<~RUBY)).to eq(["done"])
        class Sub < FRAMED; def read(size); end; end
        class Thrift::FramedTransport; def my_metrics; end; alias read_plain read; end
        FRAMED.new(nil).define_singleton_method(:read) { |size| size }
        puts "done"
      RUBY
    end

    it "runs the hooks that the class had, and those that it gets" do
      before = "class Thrift::FramedTransport; def self.method_added(name); puts \"before \#{name}\"; super; end; end"
      later = "class Thrift::FramedTransport; def self.method_removed(name); puts \"later \#{name}\"; end; end"
      code = "#{later}; class Thrift::FramedTransport; def read_all(size); end; remove_method :read_all; end"

      # Our own installing comes first. The base class has our hooks, too, so super tells it twice.
      expect(told(code, between: before).last(5)).to eq([
                                                          "touched Thrift::FramedTransport", "before read_all",
                                                          "touched Thrift::FramedTransport",
                                                          "touched Thrift::FramedTransport", "later read_all"
                                                        ])
    end
  end
end
