/* SPDX-License-Identifier: Apache-2.0 */
#include "buffered.h"
#include "channel.h"
#include "conn.h"
#include "decode.h"
#include "encode.h"
#include "exact.h"
#include "framed.h"
#include "linger.h"
#include "keys.h"
#include "memory.h"
#include "names.h"
#include "out.h"
#include "protocol.h"
#include "protocol_new.h"
#include "schema.h"
#include "serializer.h"
#include "sets.h"
#include "socket_class.h"
#include "stock.h"
#include "struct_class.h"
#include "text.h"
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
    tn_out_init();
    tn_text_init();
    tn_keys_init();
    tn_sets_init();
    tn_schema_init(ext);
    tn_encode_init();
    tn_decode_init();
    tn_struct_class_init(ext);
    tn_channel_init();
    tn_serializer_init(ext);
    tn_protocol_write_init(ext);
    tn_protocol_read_init(ext);
    tn_protocol_new_init(ext);
}
