/* SPDX-License-Identifier: Apache-2.0
 * Instance variables of one of the thrift gem's own classes, without a look-up of the name: up to Ruby 3.1 they have
 * the same place in all objects of a class. */
#ifndef TN_PLACE_H
#define TN_PLACE_H

#include "exact.h"

typedef struct {
    VALUE klass; /* a class that stays; objects of others are looked up by name. 0: none */
    ID name;
    long index; /* -1 until seen */
} tn_place;

void tn_place_init(tn_place *place, VALUE klass, ID name);

/* Cold. */
VALUE tn_place_look_up(VALUE object, tn_place *place);

static inline bool tn_place_known(VALUE object, TN_UNUSED const tn_place *place)
{
#ifdef TN_FIXED_SLOTS
    return RBASIC_CLASS(object) == place->klass && place->index >= 0 && place->index < (long)ROBJECT_NUMIV(object);
#else
    return false;
#endif
}

/* nil if it isn't set. The object is no special constant. */
static inline VALUE tn_place_get(VALUE object, tn_place *place)
{
#ifdef TN_FIXED_SLOTS
    if (TN_LIKELY(tn_place_known(object, place))) {
        VALUE value = ROBJECT_IVPTR(object)[place->index];
        return value == Qundef ? Qnil : value;
    }
#endif
    return tn_place_look_up(object, place);
}

static inline void tn_place_set(VALUE object, tn_place *place, VALUE value)
{
#ifdef TN_FIXED_SLOTS
    if (TN_LIKELY(tn_place_known(object, place) && !RB_OBJ_FROZEN_RAW(object))) {
        RB_OBJ_WRITE(object, &ROBJECT_IVPTR(object)[place->index], value);
        return;
    }
#endif
    rb_ivar_set(object, place->name, value);
}

#endif
