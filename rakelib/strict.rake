# frozen_string_literal: true

desc "Build the extension with every warning an error, and check that it exports its Init function alone"
task :strict do
  build = File.expand_path("tmp/strict")
  rm_rf build, verbose: false
  mkdir_p build, verbose: false
  chdir(build, verbose: false) do
    sh({ "TN_PEDANTIC" => "1" }, RbConfig.ruby, File.expand_path("../../ext/thrift_native/extconf.rb"))
    sh "make"
  end
  library = "#{build}/thrift_native_ext.#{RbConfig::CONFIG["DLEXT"]}"
  exported = `nm -D --defined-only #{library}`.lines.map { |line| line.split.last }
  abort "the extension exports #{exported.join(", ")}" unless exported == ["Init_thrift_native_ext"]
end
