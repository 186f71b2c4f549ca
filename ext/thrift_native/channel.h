/* SPDX-License-Identifier: Apache-2.0
 * Where a protocol object writes to and reads from, when both it and its transport are exactly the thrift gem's own,
 * so that bytes may pass by their methods. */
#ifndef TN_CHANNEL_H
#define TN_CHANNEL_H

#include "exact.h"

typedef enum { TN_WIRE_BINARY, TN_WIRE_ACCELERATED, TN_WIRE_COMPACT } tn_wire;

typedef struct {
    tn_wire wire;
    tn_kind transport_kind; /* TN_FRAMED, TN_BUFFERED or TN_MEMORY; TN_KINDS for any other */
    VALUE protocol;
    VALUE transport;
} tn_channel;

/* False: use the methods. A MultiplexedProtocol is what it wraps, but for write_message_begin. */
bool tn_channel_of(VALUE protocol, tn_channel *channel);

/* The same for a protocol itself, over any transport. */
bool tn_channel_of_protocol(VALUE protocol, tn_channel *channel);

/* The String that written bytes are appended to, or 0 if it isn't there or writing doesn't go there. */
VALUE tn_channel_sink(const tn_channel *channel);

/* ---- reading ---- */

typedef struct {
    const char *p;
    const char *end;
    const char *base;
    VALUE bytes; /* the transport's own buffer */
    long length;
    tn_channel channel;
    long max_string_size; /* bytes; LONG_MAX is no limit */
    bool compact;
    bool left;  /* between tn_in_leave and tn_in_return */
    bool keeps; /* the front of a memory buffer isn't dropped, however long it is */
} tn_in;

/* The limit of a BinaryProtocol, BinaryProtocolAccelerated or CompactProtocol: bytes; LONG_MAX is no limit. */
long tn_max_string_size(VALUE protocol, tn_wire wire);

/* Of a channel that was found. False: use the methods. `max_string_size` is left out. */
bool tn_in_open(tn_in *in);

/* False: use the methods. */
bool tn_in_begin(tn_in *in, VALUE protocol);

/* Tells the transport how far we are, unless user code raised: then it knows. */
void tn_in_commit(tn_in *in);

/* Cold: fetches until `count` bytes are at hand, or raises. Runs other threads. */
void tn_in_more(tn_in *in, long count);

static inline long tn_in_at_hand(const tn_in *in)
{
    return in->end - in->p;
}

static inline void tn_in_need(tn_in *in, long count)
{
    if (TN_UNLIKELY(tn_in_at_hand(in) < count))
        tn_in_more(in, count);
}

/* Around whatever may run user code, which may read from the same transport, or fill it anew: the state lies in its
 * instance variables meanwhile, and is taken from there afterwards. */
void tn_in_leave(tn_in *in);
void tn_in_return(tn_in *in);

void tn_channel_init(void);

#endif
