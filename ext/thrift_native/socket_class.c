/* SPDX-License-Identifier: Apache-2.0 */
#include "socket_class.h"
#include "errors.h"
#include "exact.h"
#include "peer.h"
#include "stock.h"

/* One read asks for no more, however much is wanted: what it may bring is allocated first. */
enum { MOST_AT_ONCE = 1 << 20 };

/* Closed, and ours: 0.25's answer, whichever thrift is installed. */
static void refuse_if_closed(VALUE self)
{
    if (tn_peer_closed_p(self))
        tn_raise_transport(TN_NOT_OPEN, rb_str_new_cstr("closed stream"));
}

/* The length comes first: rb_str_resize keeps no byte beyond the old one when the rest fits into the object itself. */
static VALUE revealed(VALUE string, long length)
{
    rb_str_set_len(string, length);
    rb_str_resize(string, length);
    return rb_obj_reveal(string, rb_cString);
}

/* socket.read(size) -> String of 1 to size bytes, BINARY */
static VALUE socket_read(VALUE self, VALUE size)
{
    tn_peer peer;
    if (!FIXNUM_P(size) || FIX2LONG(size) <= 0 || !tn_peer_of(self, Qnil, &peer)) {
        refuse_if_closed(self);
        return tn_stock(self, tn_id_stock_read, 1, &size);
    }
    long wanted = FIX2LONG(size), capacity = wanted < MOST_AT_ONCE ? wanted : MOST_AT_ONCE;
    /* Hidden, or ObjectSpace would give it to those who run while we wait. Small reads go through the scratch buffer.
     */
    VALUE big = capacity > TN_READ_AHEAD ? rb_obj_hide(rb_str_buf_new(capacity)) : Qnil;
    tn_deadline deadline = 0;
    for (;;) {
        long count = tn_peer_try_read(&peer, NIL_P(big) ? tn_scratch : RSTRING_PTR(big), capacity);
        if (count > 0)
            return NIL_P(big) ? rb_str_new(tn_scratch, count) : revealed(big, count);
        if (deadline == 0)
            deadline = tn_deadline_in(tn_peer_read_timeout(&peer));
        tn_peer_read_pause(&peer, count, deadline, wanted);
    }
}

/* socket.read_all(size) -> String of exactly size bytes, BINARY */
static VALUE socket_read_all(VALUE self, VALUE size)
{
    tn_peer peer;
    long wanted = FIXNUM_P(size) ? FIX2LONG(size) : 0;
    if (wanted < 0 && tn_socket_p(self))
        tn_raise_negative_size();
    if (!FIXNUM_P(size) || !tn_peer_of(self, Qnil, &peer))
        return tn_stock_or_super(self, tn_id_stock_read_all, 1, &size);
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
        return tn_stock(self, tn_id_stock_write, 1, &string);
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
