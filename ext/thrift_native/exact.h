/* SPDX-License-Identifier: Apache-2.0
 * Is this object exactly what the thrift gem made, so that C may do the work of its methods without calling them?
 * Yes if its class is the stock class itself (no subclass, no singleton), nothing was prepended to or included in
 * that class since we installed, and no method of it was defined, removed or undefined. Else the stock Ruby method
 * runs on the same object. */
#ifndef TN_EXACT_H
#define TN_EXACT_H

#include "names.h"

#include <ruby/version.h>

#if RUBY_API_VERSION_CODE < 30200
#define TN_FIXED_SLOTS 1 /* an instance variable has the same place in all objects of a class */
#endif

typedef enum {
    TN_BASE,
    TN_SOCKET,
    TN_SSL_SOCKET,
    TN_UNIX_SOCKET,
    TN_BUFFERED,
    TN_FRAMED,
    TN_MEMORY,
    TN_BASE_PROTOCOL,
    TN_BINARY,
    TN_ACCELERATED,
    TN_COMPACT,
    TN_MULTIPLEXED,
    TN_DECORATOR, /* the module that MULTIPLEXED has its methods from */
    TN_STRUCT,
    TN_STRUCT_UNION,
    TN_KINDS
} tn_kind;

/* The instance variables that are read or set once a value; @buf counts as TN_RBUF. */
typedef enum { TN_TRANSPORT, TN_RBUF, TN_WBUF, TN_INDEX, TN_READ, TN_WRITE, TN_SLOTS } tn_slot;

typedef struct {
    VALUE klass; /* 0 until watched */
    VALUE super; /* its superclass pointer when we installed; prepend and include move it */
    bool touched;
    short place[TN_SLOTS]; /* in the object, as a probe showed; -1 if unknown */
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
    return !RB_SPECIAL_CONST_P(object) && RBASIC_CLASS(object) == watched->klass && tn_class_untouched(watched) &&
           tn_class_untouched(&tn_watch_list[TN_BASE]);
}

/* An instance variable of `self`, for which tn_exact_p(self, kind) holds. By name that takes longer than all else that
 * is done for a small value. */
static inline VALUE tn_ivar(VALUE self, TN_UNUSED tn_kind kind, TN_UNUSED tn_slot slot, ID name)
{
#ifdef TN_FIXED_SLOTS
    long place = tn_watch_list[kind].place[slot];
    if (TN_LIKELY(place >= 0 && place < (long)ROBJECT_NUMIV(self))) {
        VALUE value = ROBJECT_IVPTR(self)[place];
        return value == Qundef ? Qnil : value;
    }
#endif
    return rb_attr_get(self, name);
}

/* Sets it to a small Integer. */
static inline void tn_ivar_set_long(VALUE self, TN_UNUSED tn_kind kind, TN_UNUSED tn_slot slot, ID name, long number)
{
#ifdef TN_FIXED_SLOTS
    long place = tn_watch_list[kind].place[slot];
    if (TN_LIKELY(place >= 0 && place < (long)ROBJECT_NUMIV(self) && !RB_OBJ_FROZEN_RAW(self) && FIXABLE(number))) {
        ROBJECT_IVPTR(self)[place] = LONG2FIX(number); /* no reference, no write barrier */
        return;
    }
#endif
    rb_ivar_set(self, name, LONG2NUM(number));
}

/* Sets it. */
static inline void tn_ivar_set(VALUE self, TN_UNUSED tn_kind kind, TN_UNUSED tn_slot slot, ID name, VALUE value)
{
#ifdef TN_FIXED_SLOTS
    long place = tn_watch_list[kind].place[slot];
    if (TN_LIKELY(place >= 0 && place < (long)ROBJECT_NUMIV(self) && !RB_OBJ_FROZEN_RAW(self))) {
        RB_OBJ_WRITE(self, &ROBJECT_IVPTR(self)[place], value);
        return;
    }
#endif
    rb_ivar_set(self, name, value);
}

/* A Thrift::Socket, SSLSocket or UNIXSocket whose reads and writes are ours. */
static inline bool tn_socket_p(VALUE object)
{
    if (tn_exact_p(object, TN_SOCKET))
        return true;
    return (tn_exact_p(object, TN_SSL_SOCKET) || tn_exact_p(object, TN_UNIX_SOCKET)) &&
           tn_class_untouched(&tn_watch_list[TN_SOCKET]);
}

/* Exactly the thrift gem's BinaryProtocol, BinaryProtocolAccelerated, CompactProtocol or MultiplexedProtocol. */
static inline bool tn_exact_protocol_p(VALUE object, tn_kind kind)
{
    const tn_watched *watched = &tn_watch_list[kind];
    return watched->klass && !RB_SPECIAL_CONST_P(object) && RBASIC_CLASS(object) == watched->klass &&
           tn_class_untouched(watched) && tn_class_untouched(&tn_watch_list[TN_BASE_PROTOCOL]);
}

void tn_exact_init(VALUE ext);

#endif
