# frozen_string_literal: true

# Builds the extension where it can be built, and otherwise leaves a Makefile that does nothing, so that
# the gem installs anyway and runs on the stock code.
#
#   THRIFT_NATIVE_PURE=1  don't build          TN_PEDANTIC=1  -Wextra -Werror
#   TN_DEBUG=1            -O0 -g and asserts   TN_SANITIZE=address,undefined

require "mkmf"

def stay_pure(why)
  puts "thrift_native: no extension (#{why}); the thrift gem's own code is used"
  File.write("Makefile", dummy_makefile($srcdir).join)
  exit
end

stay_pure("THRIFT_NATIVE_PURE is set") if ENV["THRIFT_NATIVE_PURE"] == "1"
stay_pure("#{RUBY_ENGINE} is not MRI") unless RUBY_ENGINE == "ruby"
stay_pure("Windows is not supported") if RUBY_PLATFORM =~ /mswin|mingw/

begin
  works = try_compile("#include <ruby.h>\n#include <ruby/io.h>\nint main(void) { return 0; }")
rescue StandardError, SystemExit => e
  stay_pure("no working compiler: #{e.message}")
end
stay_pure("no working compiler, or Ruby's headers are missing") unless works

have_func("rb_io_descriptor", "ruby/io.h")             # Ruby 3.1
have_func("rb_io_wait", "ruby/io.h")                   # Ruby 3.0
have_func("rb_fiber_scheduler_current", ["ruby.h", "ruby/fiber/scheduler.h"]) # Ruby 3.1
have_func("rb_io_closed_p", "ruby/io.h")               # Ruby 3.3
have_func("rb_io_blocking_region", "ruby/io.h")        # Ruby 4.0
have_func("rb_thread_io_blocking_region")              # Ruby 1.9, for extensions of Ruby's own
have_func("rb_gc_mark_movable", "ruby.h")              # Ruby 2.7
have_const("MSG_NOSIGNAL", "sys/socket.h")
have_const("MSG_DONTWAIT", "sys/socket.h")
have_struct_member("struct tcp_info", "tcpi_bytes_acked", ["sys/socket.h", "linux/tcp.h"])
have_header("dlfcn.h")
have_library("dl", "dlopen") unless have_func("dlopen", "dlfcn.h")
have_func("dladdr", "dlfcn.h")

append_cflags(%w[-std=gnu99 -Wall])
append_cflags("-fno-plt") # a call into Ruby for each small value: no stub in between
# Not asked for first: the question fails where the user's own flags make it warn, as -Wextra does.
$CFLAGS << " -fvisibility=hidden"
append_cflags(%w[-Wextra -Werror]) if ENV["TN_PEDANTIC"]
if ENV["TN_DEBUG"]
  append_cflags(%w[-O0 -g])
  $defs << "-DTN_DEBUG=1"
end
if (sanitizers = ENV["TN_SANITIZE"])
  append_cflags(["-fsanitize=#{sanitizers}", "-fno-omit-frame-pointer"])
  append_ldflags("-fsanitize=#{sanitizers}")
end

create_makefile("thrift_native/thrift_native_ext")
