/* SPDX-License-Identifier: Apache-2.0 */
#include "place.h"

void tn_place_init(tn_place *place, VALUE klass, ID name)
{
    rb_gc_register_mark_object(klass);
    place->klass = klass;
    place->name = name;
    place->index = -1;
}

#ifdef TN_FIXED_SLOTS
/* Where the value is, if only one place has it. */
static long find(VALUE object, VALUE value)
{
    long found = -1;
    for (long i = 0; i < (long)ROBJECT_NUMIV(object); i++) {
        if (ROBJECT_IVPTR(object)[i] != value)
            continue;
        if (found >= 0)
            return -1;
        found = i;
    }
    return found;
}
#endif

VALUE tn_place_look_up(VALUE object, tn_place *place)
{
    VALUE value = rb_attr_get(object, place->name);
#ifdef TN_FIXED_SLOTS
    if (RBASIC_CLASS(object) == place->klass && RB_TYPE_P(object, T_OBJECT) && !NIL_P(value))
        place->index = find(object, value);
#endif
    return value;
}
