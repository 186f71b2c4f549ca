/* SPDX-License-Identifier: Apache-2.0
 * Thrift::BufferedTransport: bytes are read ahead into @rbuf and written by flush. */
#include "buffered.h"
#include "errors.h"
#include "exact.h"
#include "peer.h"
#include "refill.h"
#include "stock.h"
#include "window.h"

#include <string.h>

enum { DEFAULT_BUFFER = 4096 }; /* what an inner transport of another kind is asked for, as the thrift gem does */

/* ---- reading ---- */

static long asked_for(long wanted)
{
    return wanted < DEFAULT_BUFFER ? DEFAULT_BUFFER : wanted;
}

static VALUE receive_some(tn_peer *peer, long wanted)
{
    tn_deadline deadline = 0;
    for (;;) {
        long count = tn_peer_try_read(peer, tn_scratch, TN_READ_AHEAD);
        if (count > 0)
            return rb_str_new(tn_scratch, count);
        if (deadline == 0)
            deadline = tn_deadline_in(tn_peer_read_timeout(peer));
        tn_peer_read_pause(peer, count, deadline, asked_for(wanted));
    }
}

static VALUE fetch_some(VALUE inner, long wanted)
{
    VALUE size = LONG2NUM(asked_for(wanted));
    VALUE bytes = rb_funcallv(inner, tn_id_read, 1, &size);
    return NIL_P(bytes) ? rb_str_new(NULL, 0) : rb_convert_type(bytes, T_STRING, "String", "to_str");
}

/* @rbuf is used up: the next bytes, at least one unless the inner transport has come to its end. */
static bool refill(VALUE self, long wanted, tn_window *window)
{
    tn_peer peer;
    VALUE inner = rb_attr_get(self, tn_id_iv_transport);
    VALUE bytes = tn_peer_of(inner, self, &peer) ? receive_some(&peer, wanted) : fetch_some(inner, wanted);
    tn_window_reset(self, tn_id_iv_rbuf, bytes);
    return tn_exact_window(self, TN_BUFFERED, tn_id_iv_rbuf, window) && window->unread > 0;
}

static VALUE take(VALUE self, const tn_window *window, long size)
{
    return tn_window_take(self, TN_BUFFERED, window, size);
}

static VALUE stock_read(VALUE self, VALUE size)
{
    return tn_stock(self, tn_id_stock_read, 1, &size);
}

/* buffered.read(size) -> String of at most size bytes: what is at hand, else what one read brings */
static VALUE buffered_read(VALUE self, VALUE size)
{
    tn_window window;
    if (!FIXNUM_P(size) || !tn_exact_p(self, TN_BUFFERED) ||
        !tn_exact_window(self, TN_BUFFERED, tn_id_iv_rbuf, &window))
        return stock_read(self, size);
    long wanted = FIX2LONG(size);
    if (wanted <= 0 || (window.unread == 0 && !refill(self, wanted, &window)))
        return rb_str_new(NULL, 0);
    return take(self, &window, wanted);
}

/* The rest of a value within its pace: one byte a period is not enough. Big values go straight into their String. */
static void receive_rest(VALUE self, tn_peer *peer, VALUE bytes, long size)
{
    double timeout = tn_peer_read_timeout(peer);
    tn_pace pace;
    tn_pace_start(&pace, timeout, size - RSTRING_LEN(bytes));
    while (RSTRING_LEN(bytes) < size) {
        long missing = size - RSTRING_LEN(bytes);
        if (missing >= TN_READ_AHEAD) {
            tn_peer_fill(peer, bytes, size, timeout);
            return;
        }
        long count = tn_peer_try_read(peer, tn_scratch, TN_READ_AHEAD);
        if (count <= 0) {
            tn_peer_read_pause(peer, count, pace.deadline, asked_for(missing));
            continue;
        }
        long mine = count < missing ? count : missing;
        rb_str_cat(bytes, tn_scratch, mine);
        if (count > mine)
            tn_window_reset(self, tn_id_iv_rbuf, rb_str_new(tn_scratch + mine, count - mine));
        tn_pace_arrived(&pace, count, missing - mine);
    }
}

static void fetch_rest(VALUE self, VALUE bytes, long size)
{
    tn_window window;
    while (RSTRING_LEN(bytes) < size) {
        long missing = size - RSTRING_LEN(bytes);
        if (!refill(self, missing, &window))
            tn_raise_no_more_data();
        tn_append(bytes, tn_force_binary(take(self, &window, missing)));
    }
}

static VALUE with_rest(VALUE self, VALUE beginning, long size)
{
    tn_peer peer;
    VALUE bytes = rb_str_new(RSTRING_PTR(beginning), RSTRING_LEN(beginning)); /* its own memory, to be appended to */
    RB_GC_GUARD(beginning);
    if (tn_peer_of(rb_attr_get(self, tn_id_iv_transport), self, &peer))
        receive_rest(self, &peer, bytes, size);
    else
        fetch_rest(self, bytes, size);
    return bytes;
}

/* buffered.read_all(size) -> String of exactly size bytes */
static VALUE buffered_read_all(VALUE self, VALUE size)
{
    tn_window window;
    if (!FIXNUM_P(size) || !tn_exact_p(self, TN_BUFFERED) ||
        !tn_exact_window(self, TN_BUFFERED, tn_id_iv_rbuf, &window))
        return tn_stock_or_super(self, tn_id_stock_read_all, 1, &size);
    long wanted = FIX2LONG(size);
    if (wanted < 0)
        tn_raise_negative_size();
    if (wanted == 0)
        return rb_str_new(NULL, 0);
    if (window.unread == 0 && !refill(self, wanted, &window))
        tn_raise_no_more_data();
    VALUE bytes = tn_force_binary(take(self, &window, wanted));
    return RSTRING_LEN(bytes) == wanted ? bytes : with_rest(self, bytes, wanted);
}

static bool next_byte(VALUE self, tn_window *window)
{
    return window->unread > 0 || refill(self, 1, window);
}

/* buffered.read_byte -> Integer, 0 to 255 */
static VALUE buffered_read_byte(VALUE self)
{
    tn_window window;
    if (!tn_exact_p(self, TN_BUFFERED) || !tn_exact_window(self, TN_BUFFERED, tn_id_iv_rbuf, &window))
        return tn_stock(self, tn_id_stock_read_byte, 0, NULL);
    if (!next_byte(self, &window))
        tn_raise_no_more_data();
    int byte = tn_window_byte(&window);
    tn_window_seek(self, TN_BUFFERED, window.index + 1);
    return INT2FIX(byte);
}

/* buffered.read_into_buffer(buffer, size) -> Integer, size */
static VALUE buffered_read_into_buffer(VALUE self, VALUE buffer, VALUE size)
{
    VALUE arguments[2] = {buffer, size};
    tn_window window;
    if (!FIXNUM_P(size) || !tn_exact_p(self, TN_BUFFERED) || !tn_mutable_string_p(buffer) ||
        RSTRING_LEN(buffer) < FIX2LONG(size) || !tn_exact_window(self, TN_BUFFERED, tn_id_iv_rbuf, &window))
        return tn_stock(self, tn_id_stock_read_into_buffer, 2, arguments);
    long wanted = FIX2LONG(size), done = 0;
    while (done < wanted) {
        if (!next_byte(self, &window))
            tn_raise_no_more_data();
        long count = tn_window_copy(self, TN_BUFFERED, &window, buffer, done, wanted - done);
        if (count == 0)
            rb_raise(rb_eIndexError, "buffer shortened by another thread while it was filled");
        done += count;
        window.unread = 0;
    }
    return LONG2FIX(wanted > 0 ? wanted : 0);
}

/* ---- writing ---- */

/* buffered.write(bytes) -> String, @wbuf */
static VALUE buffered_write(VALUE self, VALUE bytes)
{
    if (!tn_exact_p(self, TN_BUFFERED) || !RB_TYPE_P(bytes, T_STRING))
        return tn_stock(self, tn_id_stock_write, 1, &bytes);
    VALUE wbuf = tn_ivar(self, TN_BUFFERED, TN_WBUF, tn_id_iv_wbuf);
    if (!tn_mutable_string_p(wbuf))
        return tn_stock(self, tn_id_stock_write, 1, &bytes);
    return tn_append(wbuf, tn_force_binary(bytes));
}

/* buffered.flush: one write for the whole message. @wbuf is empty afterwards, also if that failed: what is left of a
 * message must not precede the next one. */
static VALUE buffered_flush(VALUE self)
{
    tn_peer peer;
    VALUE message = rb_attr_get(self, tn_id_iv_wbuf);
    if (!tn_exact_p(self, TN_BUFFERED) || !RB_TYPE_P(message, T_STRING))
        return tn_stock(self, tn_id_stock_flush, 0, NULL);
    VALUE inner = rb_attr_get(self, tn_id_iv_transport);
    bool ours = tn_peer_of(inner, self, &peer);
    if (RSTRING_LEN(message) > 0) {
        tn_replace_wbuf(self, message);
        if (ours) {
            tn_peer_drop_stale_input(&peer, self);
            tn_peer_send(&peer, NULL, 0, message, tn_peer_write_timeout(&peer));
        } else {
            rb_funcallv(inner, tn_id_write, 1, &message);
        }
    }
    return ours ? Qnil : rb_funcallv(inner, tn_id_flush, 0, NULL);
}

/* ---- opening and closing ---- */

/* buffered.open: opens the inner transport; input that was left from an earlier connection is gone. */
static VALUE buffered_open(VALUE self)
{
    if (!tn_exact_p(self, TN_BUFFERED))
        return tn_stock(self, tn_id_stock_open, 0, NULL);
    VALUE result = rb_funcallv(rb_attr_get(self, tn_id_iv_transport), tn_id_open, 0, NULL);
    tn_window_reset(self, tn_id_iv_rbuf, rb_str_new(NULL, 0));
    return result;
}

static VALUE close_inner(VALUE self)
{
    tn_peer_note_leftover(self);
    tn_empty_buffers(self);
    return rb_funcallv(rb_attr_get(self, tn_id_iv_transport), tn_id_close, 0, NULL);
}

typedef struct {
    VALUE self;
    VALUE result;
} closing;

static VALUE close_flushed(VALUE argument)
{
    closing *c = (closing *)argument;
    return c->result = close_inner(c->self);
}

/* buffered.close: flushes, then closes the inner transport, also when the flush failed. What was written to a
 * connection that is gone already can't be delivered, and its loss was reported when it went. */
static VALUE buffered_close(VALUE self)
{
    if (!tn_exact_p(self, TN_BUFFERED))
        return tn_stock(self, tn_id_stock_close, 0, NULL);
    if (tn_peer_closed_p(rb_attr_get(self, tn_id_iv_transport)))
        return close_inner(self);
    closing c = {self, Qnil};
    rb_ensure(buffered_flush, self, close_flushed, (VALUE)&c);
    return c.result;
}

static void receive_until(tn_peer *peer, VALUE bytes, long count)
{
    double timeout = tn_peer_read_timeout(peer);
    tn_pace pace;
    tn_pace_start(&pace, timeout, count - RSTRING_LEN(bytes));
    while (RSTRING_LEN(bytes) < count) {
        long missing = count - RSTRING_LEN(bytes);
        if (missing >= TN_READ_AHEAD) {
            tn_peer_fill(peer, bytes, count, timeout);
            return;
        }
        long arrived = tn_peer_try_read(peer, tn_scratch, TN_READ_AHEAD);
        if (arrived > 0) {
            rb_str_cat(bytes, tn_scratch, arrived);
            tn_pace_arrived(&pace, arrived, missing - arrived);
        } else {
            tn_peer_read_pause(peer, arrived, pace.deadline, count);
        }
    }
}

void tn_buffered_collect(VALUE buffered, long count)
{
    tn_peer peer;
    tn_window window;
    if (!tn_window_of(buffered, tn_id_iv_rbuf, &window))
        rb_raise(rb_eTypeError, "the transport's read buffer is no String");
    VALUE bytes = rb_str_new(RSTRING_PTR(window.bytes) + RSTRING_LEN(window.bytes) - window.unread, window.unread);
    VALUE inner = rb_attr_get(buffered, tn_id_iv_transport);
    if (tn_peer_of(inner, buffered, &peer)) {
        receive_until(&peer, bytes, count);
        tn_window_reset(buffered, tn_id_iv_rbuf, bytes);
    }
    while (RSTRING_LEN(bytes) < count) {
        VALUE more = fetch_some(inner, count - RSTRING_LEN(bytes));
        if (RSTRING_LEN(more) == 0)
            tn_raise_no_more_data();
        rb_str_buf_append(bytes, more);
        tn_window_reset(buffered, tn_id_iv_rbuf, bytes);
    }
}

void tn_buffered_init(VALUE ext)
{
    VALUE impl = rb_define_module_under(ext, "BufferedTransport");
    rb_define_method(impl, "read", buffered_read, 1);
    rb_define_method(impl, "read_all", buffered_read_all, 1);
    rb_define_method(impl, "read_byte", buffered_read_byte, 0);
    rb_define_method(impl, "read_into_buffer", buffered_read_into_buffer, 2);
    rb_define_method(impl, "write", buffered_write, 1);
    rb_define_method(impl, "flush", buffered_flush, 0);
    rb_define_method(impl, "open", buffered_open, 0);
    rb_define_method(impl, "close", buffered_close, 0);
}
