# frozen_string_literal: true

# Makes fixtures/ anew, with thrift-compiler 0.17 and the IDL in the installed thrift gems of 0.17, 0.22 and 0.24 (one
# for each form of generated code; the newest of a form has all that the older ones have):
#   ruby spec/upstream/generate.rb

require_relative "../support/generated_code"

GEMS = { "0.14" => "0.17.0", "0.18" => "0.22.0", "0.23" => "0.24.0" }.freeze

GEMS.each do |form, version|
  idl = File.join(Gem::Specification.find_by_name("thrift", version).gem_dir, "spec")
  target = File.join(__dir__, "fixtures", form)
  FileUtils.rm_rf(target)

  spec = File.join(target, "spec", "gen-rb")
  GeneratedCode.compile(File.join(idl, "ThriftSpec.thrift"), spec, form: form)
  ["ThriftNamespacedSpec", "Referenced"].each do |name|
    GeneratedCode.compile(File.join(idl, "#{name}.thrift"), spec, form: form, options: "namespaced")
    GeneratedCode.compile(File.join(idl, "#{name}.thrift"), File.join(spec, "flat"), form: form)
  end
  ["BaseService", "ExtendedService"].each do |name|
    GeneratedCode.compile(File.join(idl, "#{name}.thrift"), spec, form: form, options: "namespaced")
  end
  if form == "0.23"
    GeneratedCode.compile(File.join(__dir__, "ConstantsDemo.thrift"), File.join(spec, "constants_demo"), form: form)
  end
  GeneratedCode.compile(File.join(__dir__, "DebugProtoTest.thrift"),
                        File.join(target, "test", "debug_proto", "gen-rb"), form: form)
end
