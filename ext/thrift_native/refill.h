/* SPDX-License-Identifier: Apache-2.0
 * What the codec asks of the transports: more bytes in their buffer than there are. */
#ifndef TN_REFILL_H
#define TN_REFILL_H

#include "tn.h"

enum { TN_GARBAGE = 4096 }; /* bytes read before a memory buffer's front is dropped, as the thrift gem does */

/* @rbuf becomes what is unread of it and what comes next, until `count` bytes are unread. They raise what read_all
 * raises. */
void tn_framed_collect(VALUE framed, long count);
void tn_buffered_collect(VALUE buffered, long count);

/* A memory buffer has no more: uses up what there is, as reading does, and raises EOFError. */
NORETURN(void tn_memory_raise_end(VALUE memory));

#endif
