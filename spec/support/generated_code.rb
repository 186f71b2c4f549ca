# frozen_string_literal: true

require "fileutils"
require "tmpdir"

# What thrift-compiler 0.17 (the newest that Debian has) writes, in the forms that all supported runtimes need.
#
# Its recv_ methods suit runtimes up to 0.17 only: since 0.18 Client#receive_message reads no message header, the
# generated method does. It knows no uuid, and since 0.23 the generated validate raises INVALID_DATA. All this is put in
# here, from the runtimes' API and specs.
module GeneratedCode
  # First thrift with this form => the lines that go before receive_message (%s: name of the call).
  FORMS = {
    "0.14" => nil,
    "0.18" => <<~LINES,
      fname, mtype, rseqid = receive_message_begin()
      handle_exception(mtype)
      if reply_seqid(rseqid)==false
        raise "seqid reply faild"
      end
    LINES
    "0.23" => <<~LINES
      fname, mtype, rseqid = receive_message_begin()
      validate_message_begin(fname, mtype, rseqid, '%s')
    LINES
  }.freeze

  NOTE = "# Adapted to thrift %s and later by spec/support/generated_code.rb.\n"

  module_function

  # @return [String] the form that the loaded thrift needs. It is told from the runtime's own methods: a version
  #   number says nothing about a fork.
  def form
    return "0.23" if Thrift::Client.method_defined?(:validate_message_begin)

    Thrift::Client.method_defined?(:receive_message_begin) ? "0.18" : "0.14"
  end

  # Compiles +idl+ into +target+.
  # @param options [String] of the Ruby generator, for example "namespaced"
  def compile(idl, target, form:, options: nil)
    FileUtils.mkdir_p(target)
    Dir.mktmpdir do |dir|
      includes = File.dirname(idl)
      source, uuids = without_uuid(File.read(idl))
      idl = File.join(dir, File.basename(idl))
      File.write(idl, source)
      system("thrift", "-nowarn", "-I", includes, "--gen", ["rb", options].compact.join(":"), "-out", target, idl,
             exception: true)
      Dir[File.join(target, "**", "*.rb")].each { |file| adapt(file, form, uuids) }
    end
  end

  # @return [Array(String, Array<String>)] the IDL with strings for uuids, and the names of the fields concerned
  def without_uuid(idl)
    names = idl.scan(/\buuid>*\s+(\w+)/).flatten
    [idl.gsub(/\buuid\b(?=[\s,>])/, "string"), names]
  end

  def adapt(file, form, uuids)
    source = File.read(file)
    return if source.include?("Adapted to thrift")

    adapted = with_uuid(with_receive(source, FORMS.fetch(form)), uuids)
    adapted = with_invalid_data(adapted) if form == "0.23"
    adapted = adapted.sub("#\n\n", "#\n#{NOTE % form}\n") if adapted != source
    File.write(file, adapted)
  end

  def with_receive(source, lines)
    return source unless lines

    call = nil
    source.lines.flat_map do |line|
      call = line[/def recv_(\w+)/, 1] || call
      indent = line[/\A( +)result = receive_message\(/, 1]
      indent ? lines.gsub("%s", call.to_s).lines.map { |added| indent + added } + [line] : [line]
    end.join
  end

  def with_invalid_data(source)
    invalid = "::Thrift::ProtocolException.new(::Thrift::ProtocolException::INVALID_DATA, "
    source.gsub("::Thrift::ProtocolException.new(::Thrift::ProtocolException::UNKNOWN, ", invalid)
          .gsub("raise(StandardError, 'Union fields are not set.')", "raise(#{invalid}'Union fields are not set.'))")
  end

  def with_uuid(source, names)
    names.inject(source) do |text, name|
      text.gsub(/^.*:name => '#{name}'.*$/) { |line| line.gsub("Types::STRING", "Types::UUID") }
    end
  end
end
