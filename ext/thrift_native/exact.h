/* SPDX-License-Identifier: Apache-2.0
 * Is this object exactly what the thrift gem made, so that C may do the work of its methods without calling them?
 * Yes if its class is the stock class itself (no subclass, no singleton), nothing was prepended to or included in
 * that class since we installed, and no method of it was defined, removed or undefined. Else the stock Ruby method
 * runs on the same object. */
#ifndef TN_EXACT_H
#define TN_EXACT_H

#include "names.h"

typedef enum { TN_BASE, TN_SOCKET, TN_SSL_SOCKET, TN_UNIX_SOCKET, TN_BUFFERED, TN_FRAMED, TN_MEMORY, TN_KINDS } tn_kind;

typedef struct {
    VALUE klass; /* 0 until watched */
    VALUE super; /* its superclass pointer when we installed; prepend and include move it */
    bool touched;
} tn_watched;

extern tn_watched tn_watch_list[TN_KINDS];

static inline bool tn_class_untouched(const tn_watched *watched)
{
    return !watched->touched && rb_class_get_superclass(watched->klass) == watched->super;
}

/* For TN_SSL_SOCKET and TN_UNIX_SOCKET see tn_socket_p: they inherit from Thrift::Socket. */
static inline bool tn_exact_p(VALUE object, tn_kind kind)
{
    const tn_watched *watched = &tn_watch_list[kind];
    return watched->klass && !RB_SPECIAL_CONST_P(object) && RBASIC_CLASS(object) == watched->klass &&
           tn_class_untouched(watched) && tn_class_untouched(&tn_watch_list[TN_BASE]);
}

/* A Thrift::Socket, SSLSocket or UNIXSocket whose reads and writes are ours. */
static inline bool tn_socket_p(VALUE object)
{
    if (tn_exact_p(object, TN_SOCKET))
        return true;
    return (tn_exact_p(object, TN_SSL_SOCKET) || tn_exact_p(object, TN_UNIX_SOCKET)) &&
           tn_class_untouched(&tn_watch_list[TN_SOCKET]);
}

void tn_exact_init(VALUE ext);

#endif
