/* SPDX-License-Identifier: Apache-2.0
 * The unread part of a transport's @rbuf, @index being where it starts. The state lives in the instance variables,
 * because Ruby code may look at them whenever it runs; pointers are taken anew after anything that may run it. */
#ifndef TN_WINDOW_H
#define TN_WINDOW_H

#include "names.h"

#include <string.h>

typedef struct {
    VALUE bytes;
    long index; /* may lie beyond the end, as the thrift gem leaves it after a short read */
    long unread;
} tn_window;

/* False if the program has put something else than a String and a small Integer there. */
static inline bool tn_window_of(VALUE transport, ID buffer, tn_window *window)
{
    window->bytes = rb_attr_get(transport, buffer);
    VALUE index = rb_attr_get(transport, tn_id_iv_index);
    if (!RB_TYPE_P(window->bytes, T_STRING) || !FIXNUM_P(index) || FIX2LONG(index) < 0)
        return false;
    window->index = FIX2LONG(index);
    window->unread = RSTRING_LEN(window->bytes) - window->index;
    if (window->unread < 0)
        window->unread = 0;
    return true;
}

static inline void tn_window_seek(VALUE transport, long index)
{
    rb_ivar_set(transport, tn_id_iv_index, LONG2FIX(index));
}

static inline void tn_window_reset(VALUE transport, ID buffer, VALUE bytes)
{
    rb_ivar_set(transport, buffer, bytes);
    tn_window_seek(transport, 0);
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
static inline long tn_window_copy(VALUE transport, const tn_window *window, VALUE buffer, long offset, long most)
{
    long count = most < window->unread ? most : window->unread;
    rb_str_modify(buffer);
    if (RSTRING_LEN(buffer) < offset + count)
        return 0;
    memmove(RSTRING_PTR(buffer) + offset, RSTRING_PTR(window->bytes) + window->index, count);
    tn_window_seek(transport, window->index + count);
    return count;
}

static inline int tn_window_byte(const tn_window *window)
{
    return (unsigned char)RSTRING_PTR(window->bytes)[window->index];
}

#endif
