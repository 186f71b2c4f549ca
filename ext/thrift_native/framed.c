/* SPDX-License-Identifier: Apache-2.0
 * Thrift::FramedTransport: a message is a 4-byte big-endian length and as many bytes (thrift's framed transport).
 * @rbuf holds the frame being read and nothing more; bytes received beyond it go back to the IO. */
#include "framed.h"
#include "errors.h"
#include "exact.h"
#include "peer.h"
#include "refill.h"
#include "stock.h"
#include "window.h"

#include <string.h>

enum { HEADER = 4, DEFAULT_MAX_FRAME = 16384000, HARD_MAX_FRAME = 0x3FFFFFFF };

/* Does the installed thrift have this limit of its own (0.25)? Then the message is just its message. */
static bool limit_is_stock;

/* ---- reading a frame ---- */

/* May run Ruby. */
static long max_frame_size(VALUE self)
{
    VALUE limit = rb_attr_get(self, tn_id_iv_max_frame_size);
    return NIL_P(limit) ? DEFAULT_MAX_FRAME : NUM2LONG(limit);
}

static uint32_t frame_size(const char *header)
{
    const unsigned char *h = (const unsigned char *)header;
    return (uint32_t)h[0] << 24 | (uint32_t)h[1] << 16 | (uint32_t)h[2] << 8 | h[3];
}

/* Checked before anything is allocated or read. */
static long checked_size(const char *header, long limit, tn_peer *peer)
{
    long size = frame_size(header);
    if (size > 0 && size <= limit)
        return size;
    if (peer)
        tn_peer_abort(peer);
    if (size == 0)
        tn_raise_transport(TN_END_OF_FILE, rb_str_new_cstr("Cannot read from a zero-length frame"));
    tn_raise_transport(TN_UNKNOWN, rb_sprintf("Frame size %ld exceeds maximum %ld%s", size, limit,
                                              limit_is_stock ? "" : " (max_frame_size)"));
}

/* What came with the header: the frame's beginning is kept, what follows the frame goes back. */
static VALUE begin_frame(tn_peer *peer, const char *bytes, long length, long size)
{
    long mine = length < size ? length : size;
    VALUE frame = rb_str_new(bytes, mine);
    if (length > size) {
        VALUE kept = rb_str_new(bytes + size, length - size); /* bytes are scratch: allocate before anything runs */
        tn_peer_unread(peer, RSTRING_PTR(kept), RSTRING_LEN(kept));
        RB_GC_GUARD(kept);
    }
    return frame;
}

static VALUE receive_frame(tn_peer *peer, long limit)
{
    double timeout = tn_peer_read_timeout(peer);
    tn_pace pace = {timeout, 0, HEADER};
    char header[HEADER];
    long have = 0;
    for (;;) {
        long wanted = tn_peer_exact_reads(peer) ? HEADER - have : TN_GIVEN_BACK;
        long count = tn_peer_try_read(peer, tn_scratch, wanted);
        if (count <= 0) {
            if (pace.deadline == 0)
                tn_pace_start(&pace, timeout, HEADER - have);
            tn_peer_read_pause(peer, count, pace.deadline, HEADER - have);
            continue;
        }
        long mine = count < HEADER - have ? count : HEADER - have;
        memcpy(header + have, tn_scratch, mine);
        have += mine;
        if (have < HEADER) { /* the first bytes of a message start its period */
            if (have == mine)
                tn_pace_start(&pace, timeout, HEADER - have);
            continue;
        }
        long size = checked_size(header, limit, peer);
        VALUE frame = begin_frame(peer, tn_scratch + mine, count - mine, size);
        if (RSTRING_LEN(frame) < size)
            tn_peer_fill(peer, frame, size, timeout);
        return frame;
    }
}

static VALUE read_exactly(VALUE inner, long size)
{
    VALUE argument = LONG2NUM(size);
    VALUE bytes = rb_funcallv(inner, tn_id_read_all, 1, &argument);
    if (NIL_P(bytes))
        tn_raise_no_more_data();
    StringValue(bytes);
    if (RSTRING_LEN(bytes) < size)
        tn_raise_no_more_data();
    return bytes;
}

static VALUE fetch_frame(VALUE inner, long limit)
{
    char header[HEADER];
    VALUE bytes = read_exactly(inner, HEADER);
    memcpy(header, RSTRING_PTR(bytes), HEADER);
    RB_GC_GUARD(bytes);
    return read_exactly(inner, checked_size(header, limit, NULL));
}

/* framed.read_frame: @rbuf becomes the next frame. Private. */
static VALUE framed_read_frame(VALUE self)
{
    tn_peer peer;
    VALUE inner = rb_attr_get(self, tn_id_iv_transport);
    long limit = max_frame_size(self);
    VALUE frame = tn_peer_of(inner, self, &peer) ? receive_frame(&peer, limit) : fetch_frame(inner, limit);
    tn_window_reset(self, tn_id_iv_rbuf, frame);
    return frame;
}

/* ---- reading values ---- */

static bool reads_frames_p(VALUE self)
{
    return RTEST(tn_ivar(self, TN_FRAMED, TN_READ, tn_id_iv_read));
}

/* False if the stock method has to do it. */
static bool window_with_bytes(VALUE self, tn_window *window)
{
    if (!tn_exact_window(self, TN_FRAMED, tn_id_iv_rbuf, window))
        return false;
    if (TN_LIKELY(window->unread > 0))
        return true;
    framed_read_frame(self);
    return tn_exact_window(self, TN_FRAMED, tn_id_iv_rbuf, window) && window->unread > 0;
}

static VALUE take(VALUE self, const tn_window *window, long size)
{
    return tn_window_take(self, TN_FRAMED, window, size);
}

/* framed.read(size) -> String of at most size bytes, from one frame */
static VALUE framed_read(VALUE self, VALUE size)
{
    tn_window window;
    if (!FIXNUM_P(size) || !tn_exact_p(self, TN_FRAMED))
        return tn_stock(self, tn_id_stock_read, 1, &size);
    if (!reads_frames_p(self))
        return rb_funcallv(rb_attr_get(self, tn_id_iv_transport), tn_id_read, 1, &size);
    if (FIX2LONG(size) <= 0)
        return rb_str_new(NULL, 0);
    if (!window_with_bytes(self, &window))
        return tn_stock(self, tn_id_stock_read, 1, &size);
    return take(self, &window, FIX2LONG(size));
}

static VALUE gather(VALUE self, VALUE so_far, long size)
{
    tn_window window;
    VALUE bytes = rb_str_new(RSTRING_PTR(so_far), RSTRING_LEN(so_far)); /* its own memory, to be appended to */
    RB_GC_GUARD(so_far);
    while (RSTRING_LEN(bytes) < size) {
        if (!window_with_bytes(self, &window))
            tn_raise_no_more_data();
        tn_append(bytes, take(self, &window, size - RSTRING_LEN(bytes)));
    }
    return bytes;
}

/* framed.read_all(size) -> String of exactly size bytes, from as many frames as it takes */
static VALUE framed_read_all(VALUE self, VALUE size)
{
    tn_window window;
    if (!FIXNUM_P(size) || !tn_exact_p(self, TN_FRAMED) || !reads_frames_p(self))
        return tn_stock_or_super(self, tn_id_stock_read_all, 1, &size);
    long wanted = FIX2LONG(size);
    if (TN_UNLIKELY(wanted <= 0)) {
        if (wanted < 0)
            tn_raise_negative_size();
        return rb_str_new(NULL, 0);
    }
    if (!window_with_bytes(self, &window))
        return tn_stock_or_super(self, tn_id_stock_read_all, 1, &size);
    VALUE bytes = take(self, &window, wanted);
    return RSTRING_LEN(bytes) == wanted ? bytes : gather(self, bytes, wanted);
}

/* framed.read_byte -> Integer, 0 to 255 */
static VALUE framed_read_byte(VALUE self)
{
    tn_window window;
    if (!tn_exact_p(self, TN_FRAMED))
        return tn_stock(self, tn_id_stock_read_byte, 0, NULL);
    if (!reads_frames_p(self))
        return rb_funcallv(rb_attr_get(self, tn_id_iv_transport), tn_id_read_byte, 0, NULL);
    if (!window_with_bytes(self, &window))
        return tn_stock(self, tn_id_stock_read_byte, 0, NULL);
    int byte = tn_window_byte(&window);
    tn_window_seek(self, TN_FRAMED, window.index + 1);
    return INT2FIX(byte);
}

/* framed.read_into_buffer(buffer, size) -> Integer, size */
static VALUE framed_read_into_buffer(VALUE self, VALUE buffer, VALUE size)
{
    VALUE arguments[2] = {buffer, size};
    if (!FIXNUM_P(size) || !tn_exact_p(self, TN_FRAMED) || !tn_mutable_string_p(buffer) ||
        RSTRING_LEN(buffer) < FIX2LONG(size))
        return tn_stock(self, tn_id_stock_read_into_buffer, 2, arguments);
    long wanted = FIX2LONG(size), done = 0;
    while (done < wanted) {
        tn_window window;
        if (!window_with_bytes(self, &window))
            tn_raise_no_more_data();
        long count = tn_window_copy(self, TN_FRAMED, &window, buffer, done, wanted - done);
        if (count == 0)
            rb_raise(rb_eIndexError, "buffer shortened by another thread while it was filled");
        done += count;
    }
    return LONG2FIX(wanted > 0 ? wanted : 0);
}

/* ---- writing ---- */

/* framed.write(bytes, size = nil) -> String, @wbuf */
static VALUE framed_write(int argc, VALUE *argv, VALUE self)
{
    rb_check_arity(argc, 1, 2);
    if (!tn_exact_p(self, TN_FRAMED) || (argc == 2 && !NIL_P(argv[1])) || !RB_TYPE_P(argv[0], T_STRING))
        return tn_stock(self, tn_id_stock_write, argc, argv);
    if (!RTEST(tn_ivar(self, TN_FRAMED, TN_WRITE, tn_id_iv_write)))
        return rb_funcallv(rb_attr_get(self, tn_id_iv_transport), tn_id_write, 1, argv);
    VALUE wbuf = tn_ivar(self, TN_FRAMED, TN_WBUF, tn_id_iv_wbuf);
    if (!tn_mutable_string_p(wbuf))
        return tn_stock(self, tn_id_stock_write, argc, argv);
    return tn_append(wbuf, tn_force_binary(argv[0]));
}

static void put_header(char *header, long size)
{
    for (int i = 0; i < HEADER; i++)
        header[i] = (char)(size >> (24 - 8 * i));
}

static void flush_to(VALUE inner, const char *header, VALUE payload)
{
    VALUE message = rb_str_buf_new(HEADER + RSTRING_LEN(payload));
    rb_str_cat(message, header, HEADER);
    rb_str_buf_append(message, payload);
    rb_funcallv(inner, tn_id_write, 1, &message);
    rb_funcallv(inner, tn_id_flush, 0, NULL);
}

/* framed.flush: sends header and payload. @wbuf is empty afterwards, also if that failed: what is left of a message
 * must not precede the next one. */
static VALUE framed_flush(VALUE self)
{
    tn_peer peer;
    char header[HEADER];
    if (!tn_exact_p(self, TN_FRAMED))
        return tn_stock(self, tn_id_stock_flush, 0, NULL);
    VALUE inner = rb_attr_get(self, tn_id_iv_transport);
    if (!RTEST(rb_attr_get(self, tn_id_iv_write)))
        return rb_funcallv(inner, tn_id_flush, 0, NULL);
    VALUE payload = rb_attr_get(self, tn_id_iv_wbuf);
    if (!RB_TYPE_P(payload, T_STRING))
        return tn_stock(self, tn_id_stock_flush, 0, NULL);
    VALUE empty = tn_replace_wbuf(self, payload);
    if (RSTRING_LEN(payload) > HARD_MAX_FRAME)
        tn_raise_transport(TN_SIZE_LIMIT,
                           rb_sprintf("Frame size %ld exceeds maximum %d", RSTRING_LEN(payload), HARD_MAX_FRAME));
    if (tn_peer_of(inner, self, &peer)) {
        double timeout = tn_peer_write_timeout(&peer);
        tn_peer_drop_stale_input(&peer, self);
        put_header(header, RSTRING_LEN(payload));
        tn_peer_send(&peer, header, HEADER, payload, timeout);
    } else {
        put_header(header, RSTRING_LEN(payload));
        flush_to(inner, header, payload);
    }
    return empty;
}

/* ---- opening and closing ---- */

/* framed.open: opens the inner transport; input that was left from an earlier connection is gone. */
static VALUE framed_open(VALUE self)
{
    if (!tn_exact_p(self, TN_FRAMED))
        return tn_stock(self, tn_id_stock_open, 0, NULL);
    VALUE result = rb_funcallv(rb_attr_get(self, tn_id_iv_transport), tn_id_open, 0, NULL);
    tn_window_reset(self, tn_id_iv_rbuf, rb_str_new(NULL, 0));
    return result;
}

/* framed.close: closes the inner transport and forgets what was buffered. */
static VALUE framed_close(VALUE self)
{
    if (!tn_exact_p(self, TN_FRAMED))
        return tn_stock(self, tn_id_stock_close, 0, NULL);
    tn_peer_note_leftover(self);
    tn_empty_buffers(self);
    return rb_funcallv(rb_attr_get(self, tn_id_iv_transport), tn_id_close, 0, NULL);
}

void tn_framed_collect(VALUE framed, long count)
{
    tn_window window;
    if (!tn_window_of(framed, tn_id_iv_rbuf, &window))
        rb_raise(rb_eTypeError, "the transport's read buffer is no String");
    VALUE unread = rb_str_new(RSTRING_PTR(window.bytes) + RSTRING_LEN(window.bytes) - window.unread, window.unread);
    while (RSTRING_LEN(unread) < count) { /* a value may be spread over frames */
        VALUE frame = framed_read_frame(framed);
        unread = RSTRING_LEN(unread) ? rb_str_buf_append(unread, frame) : frame;
        tn_window_reset(framed, tn_id_iv_rbuf, unread);
    }
}

void tn_framed_init(VALUE ext)
{
    VALUE framed = rb_path2class("Thrift::FramedTransport");
    limit_is_stock = rb_const_defined(framed, rb_intern("DEFAULT_MAX_FRAME_SIZE"));
    VALUE impl = rb_define_module_under(ext, "FramedTransport");
    rb_define_private_method(impl, "read_frame", framed_read_frame, 0);
    rb_define_method(impl, "read", framed_read, 1);
    rb_define_method(impl, "read_all", framed_read_all, 1);
    rb_define_method(impl, "read_byte", framed_read_byte, 0);
    rb_define_method(impl, "read_into_buffer", framed_read_into_buffer, 2);
    rb_define_method(impl, "write", framed_write, -1);
    rb_define_method(impl, "flush", framed_flush, 0);
    rb_define_method(impl, "open", framed_open, 0);
    rb_define_method(impl, "close", framed_close, 0);
}
