/* SPDX-License-Identifier: Apache-2.0
 * Closing without TIME_WAIT where that is provably harmless.
 *
 * The hooks in client_hooks.c tell a connection what was said on it; linger.c asks at close whether the
 * conversation is complete. Everything here errs to the same side: in doubt the close is an ordinary one. */
#ifndef TN_LINGER_H
#define TN_LINGER_H

#include "conn.h"

/* This connection is closed as usual, whatever follows. A transport calls it when it is closed with input that
 * nobody read or output that was never flushed. */
static inline void tn_linger_taint(tn_conn *conn)
{
    conn->tainted = true;
}

/* A call or a oneway call starts. The flag stays up if the message ends by an exception, a throw or a kill, so no
 * rb_ensure is needed; whoever finds it up knows. */
static inline void tn_linger_send_begin(tn_conn *conn)
{
    if (conn->message_in_progress)
        conn->tainted = true;
    conn->message_in_progress = true;
}

/* The message begun last was flushed; `flushed` is false if a transport above still holds bytes. */
static inline void tn_linger_call_sent(tn_conn *conn, bool flushed)
{
    conn->message_in_progress = false;
    conn->last_was_oneway = false;
    conn->calls_outstanding++;
    conn->settled_sent = flushed ? conn->bytes_sent : UINT64_MAX;
}

/* As above, for a call that nobody answers: an empty send queue proves nothing (a proxy has the bytes and loses them),
 * only the answer to a later call does, because TCP keeps the order. */
static inline void tn_linger_oneway_sent(tn_conn *conn)
{
    conn->message_in_progress = false;
    conn->last_was_oneway = true;
    conn->oneway_unproven = true;
}

/* A reply is about to be read. */
static inline void tn_linger_reply_begin(tn_conn *conn)
{
    if (conn->reply_in_progress)
        conn->tainted = true;
    conn->reply_in_progress = true;
}

/* The reply was read to its last byte; `drained` is false if a transport above holds more input. */
static inline void tn_linger_reply_complete(tn_conn *conn, bool drained)
{
    conn->reply_in_progress = false;
    if (conn->calls_outstanding == 0) { /* a reply to nothing that we saw */
        conn->tainted = true;
        return;
    }
    conn->calls_outstanding--;
    conn->calls_answered++;
    conn->settled_consumed = drained ? conn->bytes_consumed : UINT64_MAX;
    if (conn->calls_outstanding == 0 && !conn->last_was_oneway)
        conn->oneway_unproven = false;
}

void tn_linger_init(VALUE ext);
void tn_client_hooks_init(VALUE ext);

#endif
