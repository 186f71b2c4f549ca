/* SPDX-License-Identifier: Apache-2.0
 * A growable buffer for the message being written. It belongs to an object, so that it is freed when something raises
 * in the middle, and is kept for the next message when nothing did. */
#ifndef TN_OUT_H
#define TN_OUT_H

#include "tn.h"

#include <string.h>

typedef struct {
    VALUE holder;   /* keep it on the stack */
    VALUE string;   /* what a large message is written to; 0 while it's small. Keep it on the stack, too */
    VALUE protocol; /* for which it is */
    char *base;
    char *p;
    char *end;
} tn_out;

void tn_out_begin(tn_out *out, VALUE protocol);

/* The message as a BINARY String. Nothing can be written any more. */
VALUE tn_out_take(tn_out *out);

/* Keeps the memory for the next message. */
void tn_out_end(tn_out *out);

/* Cold: makes room for `room` bytes. May raise NoMemoryError. */
void tn_out_grow(tn_out *out, size_t room);

static inline void tn_out_reserve(tn_out *out, size_t room)
{
    if (TN_UNLIKELY((size_t)(out->end - out->p) < room))
        tn_out_grow(out, room);
}

/* Room was reserved. */
static inline void tn_out_byte(tn_out *out, int byte)
{
    TN_ASSERT(out->p < out->end);
    *out->p++ = (char)byte;
}

static inline void tn_out_bytes(tn_out *out, const char *bytes, size_t length)
{
    tn_out_reserve(out, length);
    memcpy(out->p, bytes, length);
    out->p += length;
}

static inline long tn_out_length(const tn_out *out)
{
    return out->p - out->base;
}

void tn_out_init(void);

#endif
