/* SPDX-License-Identifier: Apache-2.0 */
#include "wait.h"

#include <time.h>

double tn_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

bool tn_wait(VALUE io, int events, tn_deadline deadline)
{
    VALUE timeout = Qnil;
    if (deadline > 0) {
        double left = deadline - tn_now();
        if (left <= 0)
            return false;
        timeout = DBL2NUM(left);
    }
    VALUE ready = rb_io_wait(io, INT2FIX(events), timeout);
    /* Woken early for another reason: the caller tries again, and the deadline still holds. */
    return RTEST(ready) || deadline <= 0 || tn_now() < deadline;
}
