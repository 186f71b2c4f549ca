/* SPDX-License-Identifier: Apache-2.0
 * Thrift::Socket#close, and the decision how to close.
 *
 * Who closes a TCP connection first keeps it in TIME_WAIT for a minute; a client with many short connections piles
 * up thousands. A reset leaves nothing behind, but throws away what is in flight. So a connection is reset only when
 * nothing can be: reset_is_harmless() below is the whole rule, everything else closes as usual.
 *
 * How: TCP_LINGER2 of -1, then close(2). The kernel sends a FIN like any other, again and again until the peer's
 * kernel has acknowledged it and with it every byte before it, and only then a reset in place of FIN_WAIT2 and
 * TIME_WAIT. The peer reads a clean end. SO_LINGER {1, 0}, the better known way, resets at once, so it needs a
 * shutdown(SHUT_WR) first for a clean end; between these two system calls the peer has time to close, and the
 * TIME_WAIT is there again (measured on one core: 714 of 1000 connections; this way: 0 of 16000). */
#include "linger.h"
#include "exact.h"
#include "stock.h"
#include "tls.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#ifdef __linux__
#include <linux/sockios.h>
#include <sys/ioctl.h>
#endif

static bool linger_by_default = true;

/* The descriptor of an IO that is open, else -1. Doesn't raise. */
static int open_descriptor(VALUE io)
{
    if (!RB_TYPE_P(io, T_FILE))
        return -1;
#ifdef HAVE_RB_IO_CLOSED_P /* Ruby 3.3, whose rb_io_t is on its way out */
    return RTEST(rb_io_closed_p(io)) ? -1 : rb_io_descriptor(io);
#else
    return RFILE(io)->fptr ? RFILE(io)->fptr->fd : -1;
#endif
}

/* ---- What the kernel knows ---- */

#ifdef __linux__

/* linux/tcp.h, which may be older than the kernel, and which netinet/tcp.h contradicts: the fields are where they are
 * since Linux 4.2, and getsockopt tells how many of them there are. */
#define TN_TCP_INFO 11
#define TN_TCP_LINGER2 8
#define TN_TCP_ESTABLISHED 1

typedef struct {
    uint8_t state;
    uint8_t flags[7];
    uint32_t rto, ato, send_mss, receive_mss;
    uint32_t counters_and_times[20];
    uint64_t pacing_rate, max_pacing_rate;
    uint64_t bytes_acked;    /* the SYN counts as one */
    uint64_t bytes_received; /* in order, whether or not we read them */
} tcp_info;

_Static_assert(offsetof(tcp_info, send_mss) == 16, "struct tcp_info");
_Static_assert(offsetof(tcp_info, bytes_acked) == 120, "struct tcp_info");
_Static_assert(offsetof(tcp_info, bytes_received) == 128, "struct tcp_info");

/* The loopback device takes segments of up to 64 kB. An address of this host whose segments are small is the front of
 * another host: the packet filter redirects it (a Kubernetes node port does). */
#define LOOPBACK_SEGMENT 9217 /* more than any Ethernet's */

static bool tcp_info_get(int fd, tcp_info *info)
{
    socklen_t length = sizeof(*info);
    return getsockopt(fd, IPPROTO_TCP, TN_TCP_INFO, info, &length) == 0 && length >= sizeof(*info);
}

/* Every byte that we wrote has been acknowledged, every byte that came has been consumed, and no other byte has ever
 * passed or waits to, by whatever way. */
static bool kernel_agrees(int fd, const tcp_info *info, const tn_conn *conn)
{
    int unacknowledged;
    return info->state == TN_TCP_ESTABLISHED && info->bytes_acked == conn->bytes_sent + 1 &&
           info->bytes_received == conn->bytes_consumed && ioctl(fd, SIOCOUTQ, &unacknowledged) == 0 &&
           unacknowledged == 0;
}

/* Turns the coming close(2) into one that leaves no TIME_WAIT, or back into an ordinary one. */
static bool reset_at_close(int fd, bool on)
{
    int seconds = on ? -1 : 0;
    return setsockopt(fd, IPPROTO_TCP, TN_TCP_LINGER2, &seconds, sizeof(seconds)) == 0;
}

/* ---- Where the peer is ---- */

/* The address alone, in network order, an IPv4 address mapped into IPv6 as IPv4. Its length, or 0. */
static size_t address_of(const struct sockaddr *name, const uint8_t **bytes)
{
    if (name->sa_family == AF_INET) {
        *bytes = (const uint8_t *)&((const struct sockaddr_in *)(const void *)name)->sin_addr;
        return 4;
    }
    if (name->sa_family != AF_INET6)
        return 0;
    const struct in6_addr *address = &((const struct sockaddr_in6 *)(const void *)name)->sin6_addr;
    bool mapped = IN6_IS_ADDR_V4MAPPED(address);
    *bytes = address->s6_addr + (mapped ? 12 : 0);
    return mapped ? 4 : 16;
}

static bool loopback_p(const uint8_t *bytes, size_t length)
{
    return length == 4 ? bytes[0] == 127 : memcmp(bytes, &in6addr_loopback, 16) == 0;
}

/* Reached only with two addresses, for instance when the peer's is the second one of an interface. */
static bool interface_has_p(const uint8_t *bytes, size_t length)
{
    struct ifaddrs *all;
    bool found = false;
    if (getifaddrs(&all) != 0)
        return false;
    for (struct ifaddrs *one = all; one && !found; one = one->ifa_next) {
        const uint8_t *own;
        found = one->ifa_addr && address_of(one->ifa_addr, &own) == length && memcmp(own, bytes, length) == 0;
    }
    freeifaddrs(all);
    return found;
}

static bool peer_on_this_host(int fd, const tcp_info *info)
{
    struct sockaddr_storage peer, local;
    socklen_t peer_length = sizeof(peer), local_length = sizeof(local);
    const uint8_t *theirs, *ours;

    if (info->send_mss < LOOPBACK_SEGMENT || getpeername(fd, (struct sockaddr *)&peer, &peer_length) != 0 ||
        getsockname(fd, (struct sockaddr *)&local, &local_length) != 0)
        return false;
    size_t length = address_of((struct sockaddr *)&peer, &theirs);
    if (length == 0 || address_of((struct sockaddr *)&local, &ours) != length)
        return false;
    return loopback_p(theirs, length) || memcmp(theirs, ours, length) == 0 || interface_has_p(theirs, length);
}

/* ---- The rule ---- */

/* Input that Ruby holds: read ahead, or pushed back. */
static bool input_pending(VALUE io)
{
    rb_io_t *fptr;
    GetOpenFile(io, fptr);
    return rb_io_read_pending(fptr);
}

/* The conversation, as the hooks and the counters tell it: ours alone from the first byte, at least one call, every
 * call answered, and nothing said since. */
static bool conversation_complete(const tn_conn *conn)
{
    return conn->kind == TN_PLAIN_TCP && conn->opened_here && !conn->exposed && !conn->tainted &&
           !conn->message_in_progress && !conn->reply_in_progress && conn->calls_answered > 0 &&
           conn->calls_outstanding == 0 && !conn->oneway_unproven && conn->bytes_sent == conn->settled_sent &&
           conn->bytes_consumed == conn->settled_consumed;
}

static bool sole_owner(const tn_conn *conn)
{
    return conn->fork_generation == tn_fork_generation && conn->owner == getpid();
}

/* True only if a reset can't take anything from anybody. `any_host`: the program asked for it in so many words. */
static bool reset_is_harmless(const tn_conn *conn, VALUE io, bool any_host)
{
    tcp_info info;
    int fd = open_descriptor(io);
    return conversation_complete(conn) && sole_owner(conn) && fd >= 0 && !input_pending(io) &&
           tcp_info_get(fd, &info) && kernel_agrees(fd, &info, conn) && (any_host || peer_on_this_host(fd, &info));
}

#else /* no such counters, so nothing to prove anything with */

static bool reset_is_harmless(const tn_conn *conn, VALUE io, bool any_host)
{
    return false;
}

static bool reset_at_close(int fd, bool on)
{
    return false;
}

#endif

/* ---- What to do ---- */

typedef struct {
    VALUE handle; /* what is closed */
    VALUE io;     /* the IO below it, which owns the descriptor */
    bool reset, wait, off;
    int seconds;
} closing;

/* linger(on, seconds) of the sockets' options leaves these two behind; no ivar means the default. */
static void decide(VALUE self, tn_conn *conn, closing *plan)
{
    VALUE on = rb_attr_get(self, tn_id_iv_linger_on);
    VALUE seconds = NIL_P(on) ? Qnil : rb_attr_get(self, tn_id_iv_linger_seconds);
    bool asked = RTEST(on);

    if (conn->kind == TN_PLAIN_UNIX)
        return; /* linger means nothing there */
    if (asked && FIXNUM_P(seconds) && FIX2LONG(seconds) > 0) {
        plan->wait = true;
        plan->seconds = (int)FIX2LONG(seconds);
    } else if (on == Qfalse) {
        plan->off = true;
    } else if (asked || linger_by_default) {
        plan->reset = reset_is_harmless(conn, plan->io, asked);
    }
}

/* ---- Closing ---- */

static void linger_set(int fd, bool on, int seconds)
{
    struct linger value = {.l_onoff = on, .l_linger = seconds};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &value, sizeof(value));
}

static VALUE close_handle(VALUE handle)
{
    return rb_funcallv(handle, tn_id_close, 0, NULL);
}

static VALUE close_unless_closed(VALUE handle)
{
    if (rb_respond_to(handle, tn_id_closed_p) && RTEST(rb_funcallv(handle, tn_id_closed_p, 0, NULL)))
        return Qnil;
    return close_handle(handle);
}

static VALUE swallow(TN_UNUSED VALUE unused, TN_UNUSED VALUE error)
{
    return Qnil;
}

/* Where Ruby doesn't know that the descriptor is in use, closing it would free its number under OpenSSL: then the
 * connection is only ended, and closed by whoever shakes hands or by the garbage collector. */
static VALUE close_beneath(VALUE handle)
{
    VALUE io = rb_attr_get(handle, tn_id_iv_io);
    return tn_tls_holds_io ? close_handle(io) : rb_funcall(io, rb_intern("shutdown"), 0);
}

/* The handshake may have begun a step after we looked. */
static VALUE close_beneath_if_at_work(VALUE handle, VALUE error)
{
    if (rb_obj_class(error) != rb_eRuntimeError || !tn_tls_at_work(handle))
        rb_exc_raise(error);
    return close_beneath(handle);
}

static VALUE close_tls(VALUE handle)
{
    if (tn_tls_at_work(handle))
        return close_beneath(handle);
    return rb_rescue2(close_handle, handle, close_beneath_if_at_work, handle, rb_eRuntimeError, (VALUE)0);
}

/* Swallows only what close itself raises: a Timeout or Thread#raise that ends a lingering close is the program's. */
static VALUE close_quietly(VALUE handle)
{
    tn_conn *conn = tn_conn_of(handle);
    bool tls = conn && conn->kind == TN_TLS;
    VALUE tls_error = tls ? rb_path2class("OpenSSL::SSL::SSLError") : (VALUE)0;
    return rb_rescue2(tls ? close_tls : close_handle, handle, swallow, handle, rb_eSystemCallError, rb_eIOError,
                      tls_error, (VALUE)0);
}

#ifdef HAVE_RB_FIBER_SCHEDULER_CURRENT
static VALUE close_in_thread(void *handle)
{
    return close_quietly((VALUE)handle);
}
#endif

/* IO#close leaves the VM lock before close(2), and Thread#kill, Timeout and signals end the wait in it (the kernel
 * then goes on in the background, so nothing is lost). Only a fiber scheduler knows nothing of it: its other fibers
 * run on if this one waits for a thread. */
static VALUE close_lingering(VALUE handle)
{
#ifdef HAVE_RB_FIBER_SCHEDULER_CURRENT
    if (!NIL_P(rb_fiber_scheduler_current())) {
        VALUE thread = rb_thread_create(close_in_thread, (void *)handle);
        rb_ivar_set(thread, tn_id_hidden_closing, handle); /* alive, even if this fiber is interrupted */
        return rb_funcallv(thread, tn_id_value, 0, NULL);
    }
#endif
    return close_quietly(handle);
}

static VALUE carry_out(VALUE argument)
{
    closing *plan = (closing *)argument;
    int fd = open_descriptor(plan->io);

    if (plan->reset && fd >= 0)
        reset_at_close(fd, true);
    if ((plan->wait || plan->off) && fd >= 0)
        linger_set(fd, plan->wait, plan->seconds);
    return plan->wait ? close_lingering(plan->handle) : close_quietly(plan->handle);
}

/* If it's still open, something came in between: whoever closes it then, does so as usual. */
static VALUE disarm(VALUE argument)
{
    closing *plan = (closing *)argument;
    int fd = open_descriptor(plan->io);
    if (fd < 0)
        return Qnil;
    if (plan->reset)
        reset_at_close(fd, false);
    if (plan->wait)
        linger_set(fd, false, 0);
    return Qnil;
}

static void close_native(VALUE self, VALUE handle, tn_conn *conn)
{
    closing plan = {.handle = handle, .io = conn->kind == TN_TLS ? rb_attr_get(handle, tn_id_iv_io) : handle};
    decide(self, conn, &plan);
    if (plan.reset || plan.wait || plan.off)
        rb_ensure(carry_out, (VALUE)&plan, disarm, (VALUE)&plan);
    else
        close_quietly(handle);
}

/* call-seq: close -> nil
 *
 * Closes the connection. Errors of closing are swallowed, as since thrift 0.24. What linger(on, seconds) changes is in
 * the README, "Closing connections". */
static VALUE socket_close(VALUE self)
{
    if (!tn_socket_p(self))
        return tn_stock(self, tn_id_stock_close, 0, NULL);

    VALUE handle = rb_attr_get(self, tn_id_iv_handle);
    if (NIL_P(handle))
        return Qnil;
    tn_conn *conn = tn_conn_of(handle);
    if (conn)
        close_native(self, handle, conn);
    else
        rb_rescue(close_unless_closed, handle, swallow, handle);
    rb_ivar_set(self, tn_id_iv_handle, Qnil);
    RB_GC_GUARD(handle);
    return Qnil;
}

/* ---- Init ---- */

/* Ext.linger_default = on; see lib/thrift/native/linger.rb. */
static VALUE ext_linger_default_set(TN_UNUSED VALUE ext, VALUE on)
{
    linger_by_default = RTEST(on);
    return on;
}

void tn_linger_init(VALUE ext)
{
    VALUE native = rb_const_get_at(tn_mThrift, rb_intern("Native"));
    linger_by_default = rb_attr_get(native, rb_intern("@linger_default")) != Qfalse;
    rb_define_singleton_method(ext, "linger_default=", ext_linger_default_set, 1);
    rb_define_method(rb_define_module_under(ext, "Socket"), "close", socket_close, 0);
}
