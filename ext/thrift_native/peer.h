/* SPDX-License-Identifier: Apache-2.0
 * Reading and writing the connection under a Thrift::Socket: one attempt at a time with the VM lock held, sleeping
 * in between. Whatever ends an operation abnormally (an error, the end of the stream, the deadline, Thread#raise,
 * Thread#kill, a throw) closes the connection, because the stream may be out of step. */
#ifndef TN_PEER_H
#define TN_PEER_H

#include "conn.h"
#include "wait.h"

#include <sys/uio.h>

typedef struct {
    VALUE socket;  /* a Thrift::Socket for which tn_socket_p holds */
    VALUE handle;  /* its @handle: open, and of a class that we know */
    VALUE io;      /* the IO under it: itself, or SSLSocket's @io */
    VALUE owner;   /* the framed or buffered transport whose buffers die with the connection, or nil */
    tn_conn *conn; /* owned by handle */
    int fd;
} tn_peer;

/* How much is asked of one receive, in bytes, and the size of the shared scratch buffer. */
enum { TN_READ_AHEAD = 65536 };

/* How much may be asked for if the surplus has to go back: an IO's own buffer, once made, holds no more. */
enum { TN_GIVEN_BACK = 8192 };

/* Belongs to whoever holds the VM lock, from one attempt until the bytes were copied; never across a wait. */
extern char tn_scratch[TN_READ_AHEAD];

/* False if `socket` isn't ours to work on (then call its methods instead), or isn't open. */
bool tn_peer_of(VALUE socket, VALUE owner, tn_peer *peer);

/* True if `socket` is ours and has no open handle. A handle of a kind that we don't know (a double, a proxy, an
 * object of the program's) is for the stock method to judge. */
bool tn_peer_closed_p(VALUE socket);

/* The socket's timeouts in seconds; 0 is none. May run Ruby (to_f of the program's own class), and raise TypeError if
 * the program set nonsense. */
double tn_peer_read_timeout(tn_peer *peer);
double tn_peer_write_timeout(tn_peer *peer);

/* True if the next receive must ask for no more than is needed, because the surplus couldn't be given back cheaply:
 * TLS, or bytes that wait in the IO's own buffer. */
bool tn_peer_exact_reads(const tn_peer *peer);

/* One attempt. The count (>= 1), or a code (<= 0) for tn_peer_read_pause. */
long tn_peer_try_read(tn_peer *peer, char *buffer, long capacity);

/* After a code: returns when another attempt makes sense, else closes and raises Thrift::TransportException
 * (TIMED_OUT, or NOT_OPEN with the cause's message). `size` is for the message. Runs other threads. */
void tn_peer_read_pause(tn_peer *peer, long code, tn_deadline deadline, long size);

/* Gives surplus bytes, less than TN_GIVEN_BACK, back to the IO, for the next reader whoever that is. Plain sockets
 * only, and only if tn_peer_exact_reads was false. */
void tn_peer_unread(tn_peer *peer, const char *bytes, long length);

/* Sends `header` (may be empty, at most 16 bytes) and `payload` as one message, within `timeout` seconds.
 * Nobody else may change the payload meanwhile. */
void tn_peer_send(tn_peer *peer, const char *header, long header_length, VALUE payload, double timeout);

/* Closes the connection through the socket's own `close`, swallowing StandardError, and empties the owner's buffers. */
void tn_peer_abort(tn_peer *peer);

/* `transport` is about to send the first message of a new connection: input that it holds came from another one. */
void tn_peer_drop_stale_input(const tn_peer *peer, VALUE transport);

/* `transport` is about to close with bytes unread or unsent: no close by reset. */
void tn_peer_note_leftover(VALUE transport);

/* For values and frames whose size is known: in each period of `timeout` seconds at least
 * min(4 KiB, what is missing) has to arrive, so that slow is allowed and a trickle is not. */
typedef struct {
    double timeout;
    tn_deadline deadline;
    long due; /* bytes that must still arrive in this period */
} tn_pace;

void tn_pace_start(tn_pace *pace, double timeout, long missing);

/* `count` bytes came, `missing` are still to come. */
void tn_pace_arrived(tn_pace *pace, long count, long missing);

/* Reads until `string` has `size` bytes; at least one byte is missing. Memory grows with what arrives, never with
 * what was announced. Nobody else has the string yet; it's hidden meanwhile. */
void tn_peer_fill(tn_peer *peer, VALUE string, long size, double timeout);

#endif
