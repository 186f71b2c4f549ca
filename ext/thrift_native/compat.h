/* SPDX-License-Identifier: Apache-2.0
 * A shim for each function that an older Ruby lacks, tied to its have_func in extconf.rb. */
#ifndef TN_COMPAT_H
#define TN_COMPAT_H

#include <errno.h>
#include <sys/socket.h>
#include <sys/time.h>

#ifdef HAVE_RB_FIBER_SCHEDULER_CURRENT
#include <ruby/fiber/scheduler.h>
#endif

#ifndef MSG_NOSIGNAL /* macOS: SO_NOSIGPIPE; Ruby ignores SIGPIPE anyway */
#define MSG_NOSIGNAL 0
#endif
#ifndef MSG_DONTWAIT
#error "MSG_DONTWAIT is needed"
#endif

#ifndef HAVE_RB_IO_DESCRIPTOR /* Ruby < 3.1 */
static inline int rb_io_descriptor(VALUE io)
{
    rb_io_t *fptr;
    GetOpenFile(io, fptr);
    return fptr->fd;
}
#endif

#ifndef HAVE_RB_IO_WAIT /* Ruby < 3.0 */
#define RUBY_IO_READABLE RB_WAITFD_IN
#define RUBY_IO_WRITABLE RB_WAITFD_OUT
static inline VALUE rb_io_wait(VALUE io, VALUE events, VALUE timeout)
{
    struct timeval left, *limit = NULL;
    if (!NIL_P(timeout)) {
        left = rb_time_interval(timeout);
        limit = &left;
    }
    int ready = rb_wait_for_single_fd(rb_io_descriptor(io), NUM2INT(events), limit);
    if (ready < 0)
        rb_sys_fail(NULL);
    return ready ? INT2NUM(ready) : Qfalse;
}
#endif

#endif
