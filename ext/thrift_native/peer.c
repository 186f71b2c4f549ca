/* SPDX-License-Identifier: Apache-2.0 */
#include "peer.h"
#include "errors.h"
#include "exact.h"
#include "tls.h"
#include "window.h"

#include <string.h>

char tn_scratch[TN_READ_AHEAD];

enum { READ_ERROR = TN_TLS_ERROR, TLS_RECORD = 16384, PACE = 4096, FIRST_ALLOCATION = TN_READ_AHEAD, TURN = 1 << 20 };

/* ---- resolving ---- */

static bool open_p(VALUE io)
{
    return RB_TYPE_P(io, T_FILE) && !RTEST(rb_funcallv(io, tn_id_closed_p, 0, NULL));
}

static VALUE io_under(VALUE handle, const tn_conn *conn)
{
    return conn->kind == TN_TLS ? rb_attr_get(handle, tn_id_iv_io) : handle;
}

bool tn_peer_closed_p(VALUE socket)
{
    if (!tn_socket_p(socket))
        return false;
    VALUE handle = rb_attr_get(socket, tn_id_iv_handle);
    if (NIL_P(handle))
        return true;
    tn_conn *conn = tn_conn_of(handle);
    return conn && !open_p(io_under(handle, conn));
}

bool tn_peer_of(VALUE socket, VALUE owner, tn_peer *peer)
{
    if (!tn_socket_p(socket))
        return false;
    VALUE handle = rb_attr_get(socket, tn_id_iv_handle);
    tn_conn *conn = tn_conn_of(handle);
    if (!conn)
        return false;
    VALUE io = io_under(handle, conn);
    if (!open_p(io))
        return false;
    peer->socket = socket;
    peer->handle = handle;
    peer->io = io;
    peer->owner = owner;
    peer->conn = conn;
    peer->fd = rb_io_descriptor(io);
    return true;
}

static bool pending_in_io(const tn_peer *peer)
{
    rb_io_t *fptr;
    GetOpenFile(peer->io, fptr);
    return rb_io_read_pending(fptr);
}

bool tn_peer_exact_reads(const tn_peer *peer)
{
    return peer->conn->kind == TN_TLS || pending_in_io(peer);
}

/* ---- ending a connection ---- */

static VALUE call_close(VALUE socket)
{
    return rb_funcallv(socket, tn_id_close, 0, NULL);
}

static VALUE ignore(TN_UNUSED VALUE unused, TN_UNUSED VALUE error)
{
    return Qnil;
}

void tn_peer_abort(tn_peer *peer)
{
    peer->conn->tainted = true;
    VALUE current = rb_attr_get(peer->socket, tn_id_iv_handle);
    /* Another thread may have opened the socket anew meanwhile: that connection isn't ours to close. */
    if (!NIL_P(current) && current != peer->handle)
        return;
    if (!NIL_P(current))
        rb_rescue2(call_close, peer->socket, ignore, Qnil, rb_eStandardError, (VALUE)0);
    if (!NIL_P(peer->owner))
        tn_empty_buffers(peer->owner);
}

NORETURN(static void raise_caused_by(VALUE error));
static void raise_caused_by(VALUE error)
{
    tn_raise_transport_caused(TN_NOT_OPEN, rb_funcall(error, rb_intern("message"), 0), error);
}

NORETURN(static void fail_with(tn_peer *peer, VALUE error));
static void fail_with(tn_peer *peer, VALUE error)
{
    tn_peer_abort(peer);
    raise_caused_by(error);
}

NORETURN(static void fail_with_errno(tn_peer *peer, int number));
static void fail_with_errno(tn_peer *peer, int number)
{
    fail_with(peer, rb_syserr_new(number, NULL));
}

NORETURN(static void fail_at_end(tn_peer *peer));
static void fail_at_end(tn_peer *peer)
{
    fail_with(peer, rb_exc_new_cstr(rb_eEOFError, "end of file reached"));
}

NORETURN(static void time_out(tn_peer *peer, const char *doing, const char *preposition, long size));
static void time_out(tn_peer *peer, const char *doing, const char *preposition, long size)
{
    VALUE desc = rb_attr_get(peer->socket, tn_id_iv_desc);
    VALUE message =
        rb_sprintf("Socket: Timed out %s %ld bytes %s %" PRIsVALUE, doing, size, preposition, rb_obj_as_string(desc));
    tn_peer_abort(peer);
    tn_raise_transport(TN_TIMED_OUT, message);
}

/* ---- timeouts ---- */

/* After anything that ran Ruby: the descriptor may be somebody else's by now. */
static void look_again(tn_peer *peer)
{
    if (!open_p(peer->io))
        fail_with(peer, rb_exc_new_cstr(rb_eIOError, "closed stream"));
    peer->fd = rb_io_descriptor(peer->io);
}

/* A number of anybody's own class: what IO.select takes, the thrift gem takes. */
static double seconds_of_object(tn_peer *peer, VALUE timeout)
{
    bool foreign = RB_TYPE_P(timeout, T_OBJECT) && rb_respond_to(timeout, rb_intern("to_f"));
    double seconds = NUM2DBL(foreign ? rb_funcall(timeout, rb_intern("to_f"), 0) : timeout);
    look_again(peer);
    return seconds;
}

static double seconds(tn_peer *peer, ID specific)
{
    VALUE timeout = rb_attr_get(peer->socket, specific);
    if (NIL_P(timeout))
        timeout = rb_attr_get(peer->socket, tn_id_iv_timeout);
    if (NIL_P(timeout))
        return 0;
    if (FIXNUM_P(timeout))
        return (double)FIX2LONG(timeout);
    return RB_FLOAT_TYPE_P(timeout) ? RFLOAT_VALUE(timeout) : seconds_of_object(peer, timeout);
}

double tn_peer_read_timeout(tn_peer *peer)
{
    return seconds(peer, tn_id_iv_read_timeout);
}

double tn_peer_write_timeout(tn_peer *peer)
{
    return seconds(peer, tn_id_iv_write_timeout);
}

/* ---- anything that sleeps or runs Ruby: it may be left by a raise, a kill or a throw ---- */

typedef struct {
    tn_peer *peer;
    int events; /* what to wait for, or one of these: */
#define HANDSHAKE 0
#define OTHERS_TURN -1 /* other threads, signals and interrupts */
    tn_deadline deadline;
    bool ready;
    bool settled; /* returned, or failed with the connection already closed */
} guarded;

static VALUE guarded_body(VALUE argument)
{
    guarded *g = (guarded *)argument;
    g->ready = true;
    if (g->events == HANDSHAKE)
        tn_tls_handshake(g->peer->handle, g->peer->conn->handshake_timeout);
    else if (g->events == OTHERS_TURN)
        rb_thread_check_ints();
    else
        g->ready = tn_wait(g->peer->io, g->events, g->deadline);
    g->settled = true;
    return Qnil;
}

static VALUE guarded_error(VALUE argument, VALUE error)
{
    guarded *g = (guarded *)argument;
    tn_peer_abort(g->peer);
    g->settled = true;
    if (RTEST(rb_obj_is_kind_of(error, tn_eTransportException)))
        rb_exc_raise(error); /* somebody's who knows better: Thread#raise, Timeout with a class */
    raise_caused_by(error);
}

static VALUE guarded_rescued(VALUE argument)
{
    return rb_rescue2(guarded_body, argument, guarded_error, argument, rb_eStandardError, (VALUE)0);
}

static VALUE guarded_end(VALUE argument)
{
    guarded *g = (guarded *)argument;
    if (!g->settled)
        tn_peer_abort(g->peer);
    return Qnil;
}

static bool guard(tn_peer *peer, int events, tn_deadline deadline)
{
    guarded g = {peer, events, deadline, false, false};
    rb_ensure(guarded_rescued, (VALUE)&g, guarded_end, (VALUE)&g);
    look_again(peer);
    return g.ready;
}

static void shake_hands(tn_peer *peer)
{
    peer->conn->handshake_pending = false; /* once: a failure closes the connection */
    guard(peer, HANDSHAKE, 0);
}

/* ---- reading ---- */

static long take_pending(tn_peer *peer, char *buffer, long capacity)
{
    VALUE size = LONG2FIX(capacity);
    VALUE bytes = rb_funcallv(peer->io, tn_id_readpartial, 1, &size);
    look_again(peer);
    long length = RB_TYPE_P(bytes, T_STRING) ? RSTRING_LEN(bytes) : 0;
    if (length <= 0 || length > capacity) /* a method of the program's, before Ruby's */
        fail_with(peer, rb_exc_new_cstr(rb_eIOError, "readpartial didn't return what it was asked for"));
    memcpy(buffer, RSTRING_PTR(bytes), length);
    RB_GC_GUARD(bytes);
    return length;
}

static long receive(tn_peer *peer, char *buffer, long capacity)
{
    ssize_t count;
    do {
        count = recv(peer->fd, buffer, capacity, MSG_DONTWAIT);
    } while (count < 0 && errno == EINTR);
    if (count >= 0)
        return count;
    if (errno == EAGAIN || errno == EWOULDBLOCK)
        return TN_TLS_WANT_READ;
    fail_with_errno(peer, errno);
}

static long read_tls(tn_peer *peer, char *buffer, long capacity)
{
    VALUE error = Qnil;
    if (TN_UNLIKELY(peer->conn->handshake_pending))
        shake_hands(peer);
    long count = tn_tls_read(peer->handle, buffer, capacity, &error);
    if (count == TN_TLS_ERROR)
        fail_with(peer, error);
    return count;
}

static long read_plain(tn_peer *peer, char *buffer, long capacity)
{
    return pending_in_io(peer) ? take_pending(peer, buffer, capacity) : receive(peer, buffer, capacity);
}

long tn_peer_try_read(tn_peer *peer, char *buffer, long capacity)
{
    bool tls = peer->conn->kind == TN_TLS;
    long count = tls ? read_tls(peer, buffer, capacity) : read_plain(peer, buffer, capacity);
    if (count > 0)
        peer->conn->bytes_consumed += count;
    return count;
}

void tn_peer_read_pause(tn_peer *peer, long code, tn_deadline deadline, long size)
{
    if (code == TN_TLS_EOF)
        fail_at_end(peer);
    if (!guard(peer, code == TN_TLS_WANT_WRITE ? RUBY_IO_WRITABLE : RUBY_IO_READABLE, deadline))
        time_out(peer, "reading", "from", size);
}

void tn_peer_unread(tn_peer *peer, const char *bytes, long length)
{
    rb_io_ungetbyte(peer->io, rb_str_new(bytes, length));
    peer->conn->bytes_consumed -= length;
}

/* ---- what the transports above hold ---- */

void tn_peer_drop_stale_input(const tn_peer *peer, VALUE transport)
{
    tn_window window;
    if (peer->conn->bytes_sent == 0 && peer->conn->bytes_consumed == 0 &&
        tn_window_of(transport, tn_id_iv_rbuf, &window) && window.unread > 0)
        tn_window_reset(transport, tn_id_iv_rbuf, rb_str_new(NULL, 0));
}

void tn_peer_note_leftover(VALUE transport)
{
    tn_peer peer;
    tn_window window;
    VALUE wbuf = rb_attr_get(transport, tn_id_iv_wbuf);
    bool unread = tn_window_of(transport, tn_id_iv_rbuf, &window) && window.unread > 0;
    bool unsent = RB_TYPE_P(wbuf, T_STRING) && RSTRING_LEN(wbuf) > 0;
    if ((unread || unsent) && tn_peer_of(rb_attr_get(transport, tn_id_iv_transport), Qnil, &peer))
        peer.conn->tainted = true;
}

/* ---- pace ---- */

void tn_pace_start(tn_pace *pace, double timeout, long missing)
{
    pace->timeout = timeout;
    pace->deadline = tn_deadline_in(timeout);
    pace->due = missing < PACE ? missing : PACE;
}

void tn_pace_arrived(tn_pace *pace, long count, long missing)
{
    pace->due -= count;
    if (pace->due <= 0 && missing > 0)
        tn_pace_start(pace, pace->timeout, missing);
}

static long room_for(VALUE string, long size)
{
    long length = RSTRING_LEN(string);
    long missing = size - length;
    long more = length < FIRST_ALLOCATION ? FIRST_ALLOCATION : length;
    if (missing > more)
        missing = more;
    rb_str_modify_expand(string, missing);
    return missing;
}

void tn_peer_fill(tn_peer *peer, VALUE string, long size, double timeout)
{
    tn_pace pace;
    long turn = 0;
    rb_obj_hide(string); /* ObjectSpace would give it to those who run while we wait */
    tn_pace_start(&pace, timeout, size - RSTRING_LEN(string));
    while (RSTRING_LEN(string) < size) {
        long length = RSTRING_LEN(string);
        if (turn >= TURN) { /* a fast sender leaves us no reason to sleep */
            guard(peer, OTHERS_TURN, 0);
            turn = 0;
        }
        long room = room_for(string, size);
        long count = tn_peer_try_read(peer, RSTRING_PTR(string) + length, room);
        if (count > 0) {
            rb_str_set_len(string, length + count);
            turn += count;
            tn_pace_arrived(&pace, count, size - length - count);
        } else {
            tn_peer_read_pause(peer, count, pace.deadline, size - length);
        }
    }
    rb_obj_reveal(string, rb_cString);
}

/* ---- writing ---- */

typedef struct {
    const char *header;
    long header_length;
    VALUE payload;
    long total;
    long sent;
} outgoing;

static long send_plain(tn_peer *peer, const outgoing *out)
{
    struct iovec parts[2];
    struct msghdr message = {.msg_iov = parts};
    long offset = out->sent - out->header_length;
    if (offset < 0) {
        parts[message.msg_iovlen++] = (struct iovec){(char *)out->header + out->sent, -offset};
        offset = 0;
    }
    long left = out->total - out->header_length - offset;
    if (left > 0)
        parts[message.msg_iovlen++] = (struct iovec){RSTRING_PTR(out->payload) + offset, left};
    ssize_t count;
    do {
        count = sendmsg(peer->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    } while (count < 0 && errno == EINTR);
    if (count < 0 && errno != EAGAIN && errno != EWOULDBLOCK)
        fail_with_errno(peer, errno);
    return count < 0 ? TN_TLS_WANT_WRITE : count;
}

static void check_unchanged(tn_peer *peer, const outgoing *out)
{
    if (RSTRING_LEN(out->payload) != out->total - out->header_length)
        fail_with(peer, rb_exc_new_cstr(rb_eRuntimeError, "message changed by another thread while it was sent"));
}

static long send_tls(tn_peer *peer, const outgoing *out)
{
    VALUE error = Qnil;
    if (TN_UNLIKELY(peer->conn->handshake_pending)) {
        shake_hands(peer);
        check_unchanged(peer, out);
    }
    long in_header = out->header_length - out->sent;
    long count;
    if (in_header > 0) { /* the header and what fits of the payload share a record */
        long body = out->total - out->header_length;
        if (body > TLS_RECORD - in_header)
            body = TLS_RECORD - in_header;
        memcpy(tn_scratch, out->header + out->sent, in_header);
        memcpy(tn_scratch + in_header, RSTRING_PTR(out->payload), body);
        count = tn_tls_write(peer->handle, tn_scratch, in_header + body, &error);
    } else {
        count = tn_tls_write(peer->handle, RSTRING_PTR(out->payload) - in_header, out->total - out->sent, &error);
    }
    if (count == TN_TLS_ERROR)
        fail_with(peer, error);
    return count;
}

void tn_peer_send(tn_peer *peer, const char *header, long header_length, VALUE payload, double timeout)
{
    outgoing out = {header, header_length, payload, header_length + RSTRING_LEN(payload), 0};
    tn_deadline deadline = 0;
    while (out.sent < out.total) {
        long count = peer->conn->kind == TN_TLS ? send_tls(peer, &out) : send_plain(peer, &out);
        if (count > 0) {
            out.sent += count;
            peer->conn->bytes_sent += count;
            continue;
        }
        if (deadline == 0) /* the clock is read only by those who have to wait */
            deadline = tn_deadline_in(timeout);
        if (!guard(peer, count == TN_TLS_WANT_READ ? RUBY_IO_READABLE : RUBY_IO_WRITABLE, deadline))
            time_out(peer, "writing", "to", out.total);
        check_unchanged(peer, &out);
    }
    RB_GC_GUARD(payload);
}
