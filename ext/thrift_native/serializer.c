/* SPDX-License-Identifier: Apache-2.0
 * Thrift::Serializer and Thrift::Deserializer over a memory buffer of their own: a struct from and to one String. */
#include "serializer.h"
#include "channel.h"
#include "place.h"
#include "refill.h"
#include "stock.h"
#include "struct_class.h"
#include "window.h"

static tn_place serializer_transport, serializer_protocol, deserializer_transport, deserializer_protocol;
static bool renews; /* the installed thrift makes a new protocol after a failure (0.25) */

/* The memory buffer's String, or 0 if the program has put something else in its place. */
static VALUE buffer_of(VALUE transport)
{
    if (!tn_exact_p(transport, TN_MEMORY))
        return 0;
    VALUE buffer = tn_ivar(transport, TN_MEMORY, TN_RBUF, tn_id_iv_buf);
    return tn_mutable_string_p(buffer) ? buffer : 0;
}

/* What the program's own `write`, or the stock one, left there. */
static VALUE rest_of(VALUE transport, VALUE protocol)
{
    if (renews)
        rb_funcall(rb_funcall(protocol, rb_intern("trans"), 0), tn_id_flush, 0);
    return rb_funcall(transport, tn_id_read, 1, rb_funcall(transport, rb_intern("available"), 0));
}

/* serializer.serialize(struct) -> String. Since thrift 0.25 a write that failed costs the protocol, whose state may be
 * of the middle of a message: so it's put away meanwhile. */
static VALUE serialize(VALUE self, VALUE object)
{
    VALUE transport = tn_place_get(self, &serializer_transport), protocol = tn_place_get(self, &serializer_protocol);
    VALUE buffer = NIL_P(protocol) || RB_OBJ_FROZEN(self) ? 0 : buffer_of(transport);
    if (!buffer)
        return tn_stock(self, tn_id_stock_serialize, 1, &object);
    if (RSTRING_LEN(buffer) > 0)
        rb_str_resize(buffer, 0);
    tn_window_seek(transport, TN_MEMORY, 0);
    if (renews)
        tn_place_set(self, &serializer_protocol, Qnil);
    VALUE bytes = tn_struct_bytes(object, protocol, transport);
    if (!bytes)
        rb_funcallv(object, tn_id_write, 1, &protocol);
    if (renews)
        tn_place_set(self, &serializer_protocol, protocol);
    return bytes ? bytes : rest_of(transport, protocol);
}

/* A long message that was read to its end isn't kept until the next one comes. */
static void drop_read(VALUE transport, VALUE buffer)
{
    tn_window window;
    if (RSTRING_LEN(buffer) < TN_GARBAGE || !tn_exact_p(transport, TN_MEMORY) ||
        !tn_exact_window(transport, TN_MEMORY, tn_id_iv_buf, &window) || window.bytes != buffer)
        return;
    if (window.unread == 0)
        rb_str_resize(buffer, 0);
    else
        rb_str_drop_bytes(buffer, window.index);
    tn_window_seek(transport, TN_MEMORY, 0);
}

/* deserializer.deserialize(struct, bytes) -> struct. Changes the encoding of `bytes` to BINARY, as the thrift gem does.
 */
static VALUE deserialize(VALUE self, VALUE object, VALUE bytes)
{
    VALUE arguments[2] = {object, bytes};
    VALUE transport = tn_place_get(self, &deserializer_transport);
    VALUE buffer = RB_TYPE_P(bytes, T_STRING) ? buffer_of(transport) : 0;
    if (!buffer)
        return tn_stock(self, tn_id_stock_deserialize, 2, arguments);
    VALUE protocol = tn_place_get(self, &deserializer_protocol);
    rb_str_replace(buffer, tn_force_binary(bytes));
    tn_window_seek(transport, TN_MEMORY, 0);
    tn_struct_read(object, protocol);
    drop_read(transport, buffer);
    return object;
}

void tn_serializer_init(VALUE ext)
{
    VALUE impl = rb_define_module_under(ext, "Serializer");
    rb_define_method(impl, "serialize", serialize, 1);
    impl = rb_define_module_under(ext, "Deserializer");
    rb_define_method(impl, "deserialize", deserialize, 2);
    VALUE klass = rb_path2class("Thrift::Serializer");
    tn_place_init(&serializer_transport, klass, tn_id_iv_transport);
    tn_place_init(&serializer_protocol, klass, tn_id_iv_protocol);
    VALUE probe = tn_try_new(klass, 0);
    renews = !NIL_P(probe) && RTEST(rb_ivar_defined(probe, tn_id_iv_protocol_factory));
    klass = rb_path2class("Thrift::Deserializer");
    tn_place_init(&deserializer_transport, klass, tn_id_iv_transport);
    tn_place_init(&deserializer_protocol, klass, tn_id_iv_protocol);
}
