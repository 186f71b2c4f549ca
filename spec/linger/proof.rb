# frozen_string_literal: true

require "fileutils"
require "json"
require "rbconfig"
require "socket"
require "tmpdir"

# Nothing is lost: every scenario runs with ordinary closes and with ours, against a peer in another process, and the
# peer must have received the same and read the same ends. Run by rake linger:proof.
#
# Linux, and for some rows root, iproute2 (two network namespaces joined by a veth pair) and HAProxy; rows whose tools
# are missing are skipped and say so.
class LingerProof
  # @!attribute scenario [Symbol] a method of Closer in closer.rb
  # @!attribute share [Integer] of the closes, in per mille of LINGER_CLOSES
  # @!attribute pace [String] how the peer reads
  # @!attribute way [Symbol] :loopback, :haproxy, or :veth: another host, as far as the kernel can tell
  # @!attribute resets [Boolean] whether the connections end by reset, so that none is in TIME_WAIT
  Row = Struct.new(:scenario, :share, :pace, :way, :resets)

  ROWS = [
    Row.new(:calls, 250, "fast", :loopback, true),
    Row.new(:oneway, 150, "fast", :loopback, false),
    Row.new(:call_then_oneway, 100, "fast", :loopback, false),
    Row.new(:unread_reply, 100, "fast", :loopback, nil), # in half of them the kernel resets by itself
    Row.new(:large_write, 20, "fast", :loopback, false),
    Row.new(:oneway_then_call, 20, "fast", :loopback, true),
    Row.new(:call_then_oneway, 20, "slow", :loopback, false),
    Row.new(:large_write, 5, "slow", :loopback, false),
    Row.new(:oneway_then_call, 5, "slow", :loopback, true),
    Row.new(:forked_child, 40, "fast", :loopback, nil), # there the fork decides who closes last
    Row.new(:exit_without_close, 60, "fast", :loopback, false),
    Row.new(:calls, 30, "fast", :haproxy, true),
    Row.new(:large_write, 20, "fast", :haproxy, false),
    Row.new(:oneway_then_call, 20, "fast", :haproxy, true),
    Row.new(:large_write, 5, "slow", :haproxy, false),
    Row.new(:oneway_then_call, 5, "slow", :haproxy, true),
    Row.new(:calls, 60, "fast", :veth, true),
    Row.new(:oneway, 30, "fast", :veth, false),
    Row.new(:unread_reply, 20, "fast", :veth, nil),
    Row.new(:large_write, 10, "fast", :veth, false),
    Row.new(:oneway_then_call, 10, "fast", :veth, true),
    Row.new(:large_write, 5, "slow", :veth, false),
    Row.new(:oneway_then_call, 5, "slow", :veth, true),
    Row.new(:forked_child, 10, "fast", :veth, nil)
  ].freeze

  # What the peer saw ({"bytes how" => count}) and how many connections were in TIME_WAIT at our end.
  Outcome = Struct.new(:ends, :time_wait) do
    def bytes
      ends.each_with_object(Hash.new(0)) { |(key, count), sums| sums[key.split.first] += count }
    end

    def clean
      ends.sum { |key, count| key.end_with?(" eof") ? count : 0 }
    end
  end

  # A Ruby process with which we talk in lines.
  class Talker
    def initialize(prefix, file)
      ruby = [RbConfig.ruby, "-I", File.expand_path("../../lib", __dir__), File.join(__dir__, file)]
      @pipe = IO.popen([*prefix, *ruby], "r+")
    end

    def ask(*words)
      @pipe.puts(words.join(" "))
      @pipe.gets&.chomp or raise "#{words.join(" ")}: no answer"
    end

    def stop
      Process.kill(:KILL, @pipe.pid)
      @pipe.close
    end
  end

  # Two network namespaces with one link: to the kernel, two hosts.
  class Link
    HERE = "tn_proof_a"
    THERE = "tn_proof_b"
    ADDRESS = "10.203.0.2"

    def self.missing
      return "not root" unless Process.uid.zero?

      "no iproute2" unless system("ip", "netns", "list", out: File::NULL, err: File::NULL)
    end

    def initialize
      remove
      ip("netns", "add", HERE)
      ip("netns", "add", THERE)
      ip("link", "add", "tnp0", "netns", HERE, "type", "veth", "peer", "name", "tnp1", "netns", THERE)
      { HERE => ["tnp0", "10.203.0.1"], THERE => ["tnp1", ADDRESS] }.each do |space, (device, address)|
        ip("-n", space, "addr", "add", "#{address}/24", "dev", device)
        ip("-n", space, "link", "set", device, "up")
        ip("-n", space, "link", "set", "lo", "up")
      end
    end

    def here
      ["ip", "netns", "exec", HERE]
    end

    def there
      ["ip", "netns", "exec", THERE]
    end

    # A narrow link, flooded in bursts, so that a part of our packets is lost, whatever they are. Nil if the kernel has
    # no tbf (tc-tbf(8)), else the process that floods.
    def disturb
      narrow = system("tc", "-n", HERE, "qdisc", "replace", "dev", "tnp0", "root", "tbf", "rate", "8mbit",
                      "burst", "4kb", "limit", "8kb", out: File::NULL, err: File::NULL)
      return unless narrow

      Process.spawn(*here, RbConfig.ruby, "-rsocket", "-e", <<~CODE, ADDRESS)
        flood = UDPSocket.new
        flood.connect(ARGV[0], 9)
        packet = "x" * 1200
        loop do
          15.times do
            flood.send(packet, 0)
          rescue SystemCallError # nobody listens there
            nil
          end
          sleep(0.025)
        end
      CODE
    end

    def remove
      [HERE, THERE].each { |space| system("ip", "netns", "del", space, out: File::NULL, err: File::NULL) }
    end

    private

    def ip(*args)
      system("ip", *args) or raise "ip #{args.join(" ")} failed"
    end
  end

  # HAProxy between a port of its own and another one.
  class Proxy
    def self.missing
      "no haproxy" unless ENV["PATH"].split(":").push("/usr/sbin").any? { |dir| File.executable?("#{dir}/haproxy") }
    end

    attr_reader :port

    def initialize(target)
      @port = Addrinfo.tcp("127.0.0.1", 0).bind { |socket| socket.local_address.ip_port }
      @dir = Dir.mktmpdir
      File.write("#{@dir}/haproxy.cfg", <<~CONFIG)
        global
          maxconn 4000
        defaults
          mode tcp
          timeout connect 10s
          timeout client 60s
          timeout server 60s
        listen proof
          bind 127.0.0.1:#{@port}
          server peer 127.0.0.1:#{target}
      CONFIG
      path = "#{ENV["PATH"]}:/usr/sbin"
      @pid = Process.spawn({ "PATH" => path }, "haproxy", "-db", "-q", "-f", "#{@dir}/haproxy.cfg")
      wait_until_listening
    end

    def stop
      Process.kill(:KILL, @pid)
      Process.wait(@pid)
      FileUtils.remove_entry(@dir)
    end

    private

    def wait_until_listening
      TCPSocket.new("127.0.0.1", @port).close
    rescue Errno::ECONNREFUSED
      raise "haproxy ended" if Process.wait(@pid, Process::WNOHANG)

      sleep(0.02)
      retry
    end
  end

  # @param closes [Integer] in each of the two runs
  def initialize(closes: 1000, out: $stdout)
    @closes = closes
    @out = out
    @failures = []
  end

  # @return [Boolean] whether all went well
  def run
    @out.puts format(LINE, "scenario", "peer", "way", "closes", "bytes, as usual / ours", "clean ends", "TIME_WAIT")
    ROWS.each { |row| prove(row) }
    disturbed
    @out.puts @failures.empty? ? "Nothing was lost." : @failures
    @failures.empty?
  ensure
    @talkers&.each_value { |both| both.each(&:stop) }
    @link&.remove
  end

  private

  LINE = "%-22s %-5s %-9s %7s  %-27s %-13s %s"
  private_constant :LINE

  def prove(row, way = row.way)
    why = missing(row.way)
    return skip(row, why) if why

    closes = [(row.share * @closes / 1000) / 20, 1].max * 20
    usual = measure(row, closes, "off")
    ours = measure(row, closes, row.way == :veth ? "reset" : "default")
    judge(row, closes, usual, ours)
    bytes = [usual, ours].map { |outcome| outcome.bytes.sum { |size, count| size.to_i * count } }.join(" / ")
    @out.puts format(LINE, row.scenario, row.pace, way, closes, bytes, "#{usual.clean} / #{ours.clean}",
                     "#{usual.time_wait} / #{ours.time_wait}")
  end

  # Packets get lost, the FIN and the reset among them.
  def disturbed
    return if Link.missing

    flood = link.disturb
    return skip(Row.new(:calls, 0, "fast", "lossy"), "no tbf in this kernel") unless flood

    # Only what we close by reset: after a usual close, too, the kernel gives up after eight losses in a row
    # (tcp_orphan_retries, tcp(7)), so that by chance a oneway call is lost with or without us.
    [[:calls, 40], [:small_oneway_then_call, 20]].each do |scenario, share|
      prove(Row.new(scenario, share, "fast", :veth, true), "lossy")
    end
  ensure
    Process.kill(:KILL, flood) && Process.wait(flood) if flood
  end

  def missing(way)
    return "needs Linux" unless File.exist?("/proc/net/tcp")

    { haproxy: Proxy, veth: Link }[way]&.missing
  end

  def skip(row, why)
    @out.puts "#{row.scenario} #{row.pace} #{row.way}: skipped, #{why}"
  end

  def link
    @link ||= Link.new
  end

  # Our end and the other one.
  def ends_of(way)
    (@talkers ||= {})[way] ||= [
      Talker.new(way == :veth ? link.here : [], "closer.rb"), Talker.new(way == :veth ? link.there : [], "peer.rb")
    ]
  end

  def measure(row, closes, linger)
    closer, peer = ends_of(row.way == :veth ? :veth : :loopback)
    address = row.way == :veth ? Link::ADDRESS : "127.0.0.1"
    port = peer.ask("listen", address, row.pace)
    if row.way == :haproxy
      proxy = Proxy.new(port)
      peer.ask("ends", 1) # of the connection that tried whether the proxy is there
      port = proxy.port
    end
    closer.ask("close", row.scenario, address, port, closes, linger)
    ends = JSON.parse(peer.ask("ends", closes))
    Outcome.new(ends, closer.ask("time_wait", port).to_i)
  ensure
    proxy&.stop
  end

  def judge(row, closes, usual, ours)
    where = "#{row.scenario} (#{row.pace}, #{row.way})"
    fail_with("#{where}: the peer got #{ours.bytes}, as usual #{usual.bytes}") if ours.bytes != usual.bytes
    fail_with("#{where}: ends #{ours.ends}") if usual.clean == closes && ours.clean != closes
    # An acknowledgement of the peer's may still be on its way; then we close as usual.
    fail_with("#{where}: #{ours.time_wait} in TIME_WAIT") if row.resets && ours.time_wait > [closes / 50, 3].max
    fail_with("#{where}: closed by reset") if row.resets == false && ours.time_wait < usual.time_wait / 2
  end

  def fail_with(message)
    @failures << "FAILED #{message}"
  end
end
