/* SPDX-License-Identifier: Apache-2.0
 * The unread part of a transport's @rbuf, @index being where it starts. The state lives in the instance variables,
 * because Ruby code may look at them whenever it runs; pointers are taken anew after anything that may run it. */
#ifndef TN_WINDOW_H
#define TN_WINDOW_H

#include "exact.h"
#include "stock.h"

#include <string.h>

typedef struct {
    VALUE bytes;
    long index; /* may lie beyond the end, as the thrift gem leaves it after a short read */
    long unread;
} tn_window;

/* False if the program has put something else than a String and a small Integer there. */
static inline bool tn_window_set(tn_window *window, VALUE bytes, VALUE index)
{
    if (!RB_TYPE_P(bytes, T_STRING) || !FIXNUM_P(index) || FIX2LONG(index) < 0)
        return false;
    window->bytes = bytes;
    window->index = FIX2LONG(index);
    window->unread = RSTRING_LEN(bytes) - window->index;
    if (window->unread < 0)
        window->unread = 0;
    return true;
}

/* Of any transport. */
static inline bool tn_window_of(VALUE transport, ID buffer, tn_window *window)
{
    return tn_window_set(window, rb_attr_get(transport, buffer), rb_attr_get(transport, tn_id_iv_index));
}

/* Of one for which tn_exact_p holds: faster. */
static inline bool tn_exact_window(VALUE transport, tn_kind kind, ID buffer, tn_window *window)
{
    return tn_window_set(window, tn_ivar(transport, kind, TN_RBUF, buffer),
                         tn_ivar(transport, kind, TN_INDEX, tn_id_iv_index));
}

static inline void tn_window_seek(VALUE transport, tn_kind kind, long index)
{
    tn_ivar_set_long(transport, kind, TN_INDEX, tn_id_iv_index, index);
}

static inline void tn_window_reset(VALUE transport, ID buffer, VALUE bytes)
{
    rb_ivar_set(transport, buffer, bytes);
    rb_ivar_set(transport, tn_id_iv_index, INT2FIX(0));
}

/* Forgets what a framed or buffered transport holds. */
static inline void tn_empty_buffers(VALUE transport)
{
    tn_window_reset(transport, tn_id_iv_rbuf, rb_str_new(NULL, 0));
    rb_ivar_set(transport, tn_id_iv_wbuf, rb_str_new(NULL, 0));
}

/* Takes the message out of @wbuf before it is sent, so that nobody appends to it meanwhile and nothing of it is left
 * if that fails. The new @wbuf has room for another one like it. */
static inline VALUE tn_replace_wbuf(VALUE transport, VALUE message)
{
    enum { MOST = 4096 };
    long length = RSTRING_LEN(message);
    VALUE empty = rb_str_buf_new(length < MOST ? length : MOST);
    rb_ivar_set(transport, tn_id_iv_wbuf, empty);
    return empty;
}

/* Copies the next bytes, at most `most` of them and at least one, to `offset` in the caller's buffer, by bytes whatever
 * its encoding is, and moves on. Returns how many; 0 if the buffer has become too short meanwhile. */
static inline long tn_window_copy(VALUE transport, tn_kind kind, const tn_window *window, VALUE buffer, long offset,
                                  long most)
{
    long count = most < window->unread ? most : window->unread;
    rb_str_modify(buffer);
    if (RSTRING_LEN(buffer) < offset + count)
        return 0;
    memmove(RSTRING_PTR(buffer) + offset, RSTRING_PTR(window->bytes) + window->index, count);
    tn_window_seek(transport, kind, window->index + count);
    return count;
}

/* A String of `count` bytes, all of them unread. */
static inline VALUE tn_window_bytes(const tn_window *window, long count)
{
    enum { SHARED = 1024 }; /* from here on Ruby may share memory instead of copying */
    if (TN_UNLIKELY(count >= SHARED || !tn_binary_p(window->bytes)))
        return rb_str_subseq(window->bytes, window->index, count);
    VALUE bytes = window->bytes;
    VALUE copy = rb_str_new(RSTRING_PTR(bytes) + window->index, count);
    RB_GC_GUARD(bytes);
    return copy;
}

/* The next bytes, at most `size` of them, and moves on. As with the thrift gem @index then lies `size` further, beyond
 * the end if there were fewer. */
static inline VALUE tn_window_take(VALUE transport, tn_kind kind, const tn_window *window, long size)
{
    VALUE taken = tn_window_bytes(window, size < window->unread ? size : window->unread);
    tn_window_seek(transport, kind, size > LONG_MAX - window->index ? LONG_MAX : window->index + size);
    return taken;
}

static inline int tn_window_byte(const tn_window *window)
{
    return (unsigned char)RSTRING_PTR(window->bytes)[window->index];
}

#endif
