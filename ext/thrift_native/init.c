/* SPDX-License-Identifier: Apache-2.0 */
#include "buffered.h"
#include "conn.h"
#include "exact.h"
#include "framed.h"
#include "linger.h"
#include "memory.h"
#include "names.h"
#include "socket_class.h"
#include "stock.h"
#include "tls.h"

RUBY_FUNC_EXPORTED void Init_thrift_native_ext(void);

/* Required by lib/thrift/native.rb once the thrift gem is loaded. Defines modules only: lib/thrift/native/install.rb
 * puts their methods into Thrift's classes. */
void Init_thrift_native_ext(void)
{
    tn_names_init();
    tn_stock_init();
    VALUE native = rb_define_module_under(tn_mThrift, "Native");
    VALUE ext = rb_define_module_under(native, "Ext");
    tn_exact_init(ext);
    tn_conn_init(ext);
    tn_tls_init(ext);
    tn_socket_class_init(ext);
    tn_linger_init(ext);
    tn_client_hooks_init(ext);
    tn_framed_init(ext);
    tn_buffered_init(ext);
    tn_memory_init(ext);
}
