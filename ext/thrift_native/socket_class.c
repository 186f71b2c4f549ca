/* SPDX-License-Identifier: Apache-2.0 */
#include "socket_class.h"
#include "errors.h"
#include "exact.h"
#include "peer.h"
#include "stock.h"

/* Closed, and ours: 0.25's answer, whichever thrift is installed. */
static void refuse_if_closed(VALUE self)
{
    if (tn_peer_closed_p(self))
        tn_raise_transport(TN_NOT_OPEN, rb_str_new_cstr("closed stream"));
}

/* socket.read(size) -> String of 1 to size bytes, BINARY */
static VALUE socket_read(VALUE self, VALUE size)
{
    tn_peer peer;
    if (!FIXNUM_P(size) || FIX2LONG(size) <= 0 || !tn_peer_of(self, Qnil, &peer)) {
        refuse_if_closed(self);
        return tn_stock(self, tn_id_stock_read, tn_id_read, 1, &size);
    }
    long wanted = FIX2LONG(size);
    long capacity = wanted < TN_READ_AHEAD ? wanted : TN_READ_AHEAD;
    tn_deadline deadline = 0;
    for (;;) {
        long count = tn_peer_try_read(&peer, tn_scratch, capacity);
        if (count > 0)
            return rb_str_new(tn_scratch, count);
        if (deadline == 0)
            deadline = tn_deadline_in(tn_peer_read_timeout(&peer));
        tn_peer_read_pause(&peer, count, deadline, wanted);
    }
}

/* socket.read_all(size) -> String of exactly size bytes, BINARY */
static VALUE socket_read_all(VALUE self, VALUE size)
{
    tn_peer peer;
    if (!FIXNUM_P(size) || !tn_peer_of(self, Qnil, &peer))
        return tn_stock(self, tn_id_stock_read_all, tn_id_read_all, 1, &size);
    long wanted = FIX2LONG(size);
    if (wanted < 0)
        tn_raise_negative_size();
    VALUE bytes = rb_str_new(NULL, 0);
    if (wanted > 0)
        tn_peer_fill(&peer, bytes, wanted, tn_peer_read_timeout(&peer));
    return bytes;
}

/* socket.write(string) -> Integer, the number of bytes written: all of them */
static VALUE socket_write(VALUE self, VALUE string)
{
    tn_peer peer;
    if (!RB_TYPE_P(string, T_STRING) || !tn_peer_of(self, Qnil, &peer)) {
        refuse_if_closed(self);
        return tn_stock(self, tn_id_stock_write, tn_id_write, 1, &string);
    }
    string = tn_force_binary(string);
    tn_peer_send(&peer, NULL, 0, string, tn_peer_write_timeout(&peer));
    return LONG2NUM(RSTRING_LEN(string));
}

void tn_socket_class_init(VALUE ext)
{
    VALUE impl = rb_define_module_under(ext, "Socket");
    rb_define_method(impl, "read", socket_read, 1);
    rb_define_method(impl, "read_all", socket_read_all, 1);
    rb_define_method(impl, "write", socket_write, 1);
}
