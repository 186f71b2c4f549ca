/* SPDX-License-Identifier: Apache-2.0
 * A connection: what must be remembered about one open descriptor. It hangs on the IO in @handle, which alone
 * owns the descriptor, so both live and die together.
 *
 * Reading order: conn.h, wait.h, conn.c, then the users: socket_class.c, framed.c, buffered.c. */
#ifndef TN_CONN_H
#define TN_CONN_H

#include "tn.h"

typedef enum { TN_PLAIN_TCP, TN_PLAIN_UNIX, TN_TLS } tn_conn_kind;

typedef struct {
    tn_conn_kind kind;
    bool opened_here;              /* by this object's own open; not accepted, adopted or assigned */
    bool exposed;                  /* the program took `handle` or `to_io`: bytes may pass that we don't see */
    bool handshake_pending;        /* an accepted TLS connection that hasn't shaken hands */
    double handshake_timeout;      /* seconds for that handshake; 0 is none */
    unsigned long fork_generation; /* of the process when the connection was made; see tn_fork_generation */
    pid_t owner;                   /* the process that made it */
    uint64_t bytes_sent;           /* through us; plaintext for TLS */
    uint64_t bytes_consumed;       /* received and handed to the program (or held in @rbuf) */
    /* The conversation, for closing by reset; see linger.h */
    unsigned calls_outstanding; /* calls whose reply has not been read to its last byte */
    uint64_t calls_answered;
    bool tainted;              /* something happened that the counters don't cover: close as usual */
    bool message_in_progress;  /* between the start of a message and its flush */
    bool reply_in_progress;    /* between the start of a reply and its last byte */
    bool oneway_unproven;      /* a oneway call was sent and no later call has been answered */
    bool last_was_oneway;      /* the last message written was one */
    uint64_t settled_sent;     /* bytes_sent when the last call had been sent */
    uint64_t settled_consumed; /* bytes_consumed when the last reply had been read */
} tn_conn;

/* The connection of `handle`, made when it isn't there yet. NULL if `handle` isn't exactly a TCPSocket, Socket,
 * UNIXSocket or OpenSSL::SSL::SSLSocket (a double, a proxy, a subclass, an object with singleton methods), or if
 * it is closed. Owned by the handle: keep `handle` on the stack while you use it. May allocate, never raises
 * otherwise. */
tn_conn *tn_conn_of(VALUE handle);

/* Counted up before each fork (pthread_atfork), in parent and child: the descriptor has two owners from then on. */
extern unsigned long tn_fork_generation;

void tn_conn_init(VALUE ext);

#endif
