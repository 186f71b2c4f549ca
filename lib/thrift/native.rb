# frozen_string_literal: true

# The documented entry: <tt>require "thrift/native"</tt>, before, after or without <tt>require "thrift"</tt>.
# Idempotent. See Thrift::Native.status for what it did.

require "thrift"
require "thrift/native/install"

Thrift::Native::Install.run
