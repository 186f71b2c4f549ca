/* SPDX-License-Identifier: Apache-2.0
 * Thrift::Client tells the connection what it says: a call sent, a oneway call sent, a reply read. Only closing cares
 * (linger.h). Nothing else grants the privilege of closing by reset, so where the way from the client down to the
 * socket isn't known to the letter, nothing is told and the connection closes as usual. */
#include "linger.h"
#include "exact.h"

enum { MAX_WRAPPERS = 3 };

/* The way down: the connection, the handle that owns it, and the transports above it, the outermost first. */
typedef struct {
    tn_conn *conn; /* NULL: unknown, tell nothing */
    VALUE handle;
    VALUE wrappers[MAX_WRAPPERS];
    int depth;
} route;

/* The protocols that write a message where and when they are told to. Looked up when the first client speaks, since
 * thrift's own extension may be loaded after ours. */
static VALUE known_protocols[4], decorator;

static VALUE thrift_class(const char *name)
{
    ID id = rb_intern(name);
    if (!rb_const_defined_at(tn_mThrift, id))
        return Qnil;
    VALUE found = rb_const_get_at(tn_mThrift, id);
    rb_gc_register_mark_object(found);
    return found;
}

static void learn_protocols(void)
{
    known_protocols[1] = thrift_class("BinaryProtocol");
    known_protocols[2] = thrift_class("CompactProtocol");
    known_protocols[3] = thrift_class("JsonProtocol");
    decorator = thrift_class("MultiplexedProtocol");
    known_protocols[0] = thrift_class("BinaryProtocolAccelerated");
}

static bool known_protocol_p(VALUE klass)
{
    for (int i = 0; i < 4; i++)
        if (klass == known_protocols[i])
            return true;
    return false;
}

/* The transport below a protocol, or nil. */
static VALUE transport_of(VALUE protocol)
{
    if (RB_SPECIAL_CONST_P(protocol))
        return Qnil;
    if (TN_UNLIKELY(!known_protocols[0]))
        learn_protocols();
    if (CLASS_OF(protocol) == decorator) {
        protocol = rb_attr_get(protocol, tn_id_iv_protocol);
        if (RB_SPECIAL_CONST_P(protocol))
            return Qnil;
    }
    return known_protocol_p(CLASS_OF(protocol)) ? rb_attr_get(protocol, tn_id_iv_trans) : Qnil;
}

/* thrift 0.25 remembers the calls that it expects replies to. Those of a connection that is gone will have none: left
 * there they would make each later reply "out of sequence". */
static void forget_lost_calls(VALUE self)
{
    VALUE pending = rb_attr_get(self, tn_id_iv_pending_seqids);
    if (!RB_TYPE_P(pending, T_ARRAY) || RARRAY_LEN(pending) == 0)
        return;
    VALUE transport = transport_of(rb_attr_get(self, tn_id_iv_oprot));
    for (int depth = 0; depth < MAX_WRAPPERS; depth++) {
        if (!tn_exact_p(transport, TN_FRAMED) && !tn_exact_p(transport, TN_BUFFERED))
            break;
        transport = rb_attr_get(transport, tn_id_iv_transport);
    }
    if (!tn_socket_p(transport))
        return;
    VALUE handle = rb_attr_get(transport, tn_id_iv_handle);
    const tn_conn *conn = NIL_P(handle) ? NULL : tn_conn_of(handle);
    if (conn && conn->bytes_sent == 0 && conn->bytes_consumed == 0)
        rb_ary_clear(pending);
    RB_GC_GUARD(handle);
}

static route route_from(VALUE protocol)
{
    route way = {.conn = NULL, .handle = Qnil, .depth = 0};
    VALUE transport = transport_of(protocol);

    while (tn_exact_p(transport, TN_FRAMED) || tn_exact_p(transport, TN_BUFFERED)) {
        if (way.depth == MAX_WRAPPERS)
            return way;
        way.wrappers[way.depth++] = transport;
        transport = rb_attr_get(transport, tn_id_iv_transport);
    }
    if (!tn_exact_p(transport, TN_SOCKET))
        return way;
    way.handle = rb_attr_get(transport, tn_id_iv_handle);
    way.conn = NIL_P(way.handle) ? NULL : tn_conn_of(way.handle);
    return way;
}

static long string_length(VALUE string)
{
    return RB_TYPE_P(string, T_STRING) ? RSTRING_LEN(string) : -1;
}

/* Nothing written waits in the transports above the socket. */
static bool flushed(const route *way)
{
    for (int i = 0; i < way->depth; i++)
        if (string_length(rb_attr_get(way->wrappers[i], tn_id_iv_wbuf)) != 0)
            return false;
    return true;
}

/* Nothing received waits in the transports above the socket. */
static bool drained(const route *way)
{
    for (int i = 0; i < way->depth; i++) {
        long length = string_length(rb_attr_get(way->wrappers[i], tn_id_iv_rbuf));
        VALUE index = rb_attr_get(way->wrappers[i], tn_id_iv_index);
        if (length < 0 || !FIXNUM_P(index) || FIX2LONG(index) < length)
            return false;
    }
    return true;
}

/* call-seq: send_message(name, args_class, args = {}) */
static VALUE client_send_message(int argc, VALUE *argv, VALUE self)
{
    forget_lost_calls(self);
    route way = route_from(rb_attr_get(self, tn_id_iv_oprot));
    if (way.conn)
        tn_linger_send_begin(way.conn);
    VALUE result = rb_funcallv_kw(self, tn_id_stock_send_message, argc, argv, RB_PASS_CALLED_KEYWORDS);
    if (way.conn)
        tn_linger_call_sent(way.conn, flushed(&way));
    RB_GC_GUARD(way.handle);
    return result;
}

/* call-seq: send_oneway_message(name, args_class, args = {}) */
static VALUE client_send_oneway_message(int argc, VALUE *argv, VALUE self)
{
    route way = route_from(rb_attr_get(self, tn_id_iv_oprot));
    if (way.conn)
        tn_linger_send_begin(way.conn);
    VALUE result = rb_funcallv_kw(self, tn_id_stock_send_oneway_message, argc, argv, RB_PASS_CALLED_KEYWORDS);
    if (way.conn)
        tn_linger_oneway_sent(way.conn);
    RB_GC_GUARD(way.handle);
    return result;
}

/* call-seq: receive_message(result_class) */
static VALUE client_receive_message(int argc, VALUE *argv, VALUE self)
{
    route way = route_from(rb_attr_get(self, tn_id_iv_iprot));
    if (way.conn)
        tn_linger_reply_begin(way.conn);
    VALUE result = rb_funcallv_kw(self, tn_id_stock_receive_message, argc, argv, RB_PASS_CALLED_KEYWORDS);
    if (way.conn)
        tn_linger_reply_complete(way.conn, drained(&way));
    RB_GC_GUARD(way.handle);
    return result;
}

void tn_client_hooks_init(VALUE ext)
{
    VALUE client = rb_define_module_under(ext, "Client");
    rb_define_method(client, "send_message", client_send_message, -1);
    rb_define_method(client, "send_oneway_message", client_send_oneway_message, -1);
    rb_define_method(client, "receive_message", client_receive_message, -1);
}
