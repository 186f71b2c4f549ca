/* SPDX-License-Identifier: Apache-2.0
 * The only code that sleeps. One deadline an operation, not one a wait; fiber schedulers, Thread#kill, Thread#raise,
 * Timeout, signals and close from another thread all end a wait as they end IO#wait. */
#ifndef TN_WAIT_H
#define TN_WAIT_H

#include "tn.h"

/* Seconds on the monotonic clock, or 0 for never. */
typedef double tn_deadline;

double tn_now(void);

/* Longer than any process lives; Ruby refuses to wait for much more. */
#define TN_FOREVER 1e9

/* `timeout` seconds from now; 0, less, infinity and not-a-number are never. */
static inline tn_deadline tn_deadline_in(double timeout)
{
    return timeout > 0 && timeout < TN_FOREVER ? tn_now() + timeout : 0;
}

/* Sleeps until `io` (an IO, not an SSLSocket) is ready for `events` (RUBY_IO_READABLE, RUBY_IO_WRITABLE).
 * False when the deadline has passed. Raises what IO#wait raises. Runs other threads and fibers: re-read every
 * pointer, length and descriptor afterwards. */
bool tn_wait(VALUE io, int events, tn_deadline deadline);

#endif
