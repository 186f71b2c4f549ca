/* SPDX-License-Identifier: Apache-2.0 */
#include "keys.h"
#include "text.h"

#include <string.h>

enum { SLOT_BITS = 10, SLOTS = 1 << SLOT_BITS, LONGEST = 40 };

static VALUE recent; /* an Array, so that the collector sees them */

static VALUE new_key(const char *bytes, long length, bool binary)
{
    VALUE key = binary ? rb_str_new(bytes, length) : tn_utf8_string(bytes, length);
    OBJ_FREEZE(key);
    return key;
}

/* Eight bytes at a time, the last ones together with some before them. Which string gets which slot matters to nobody.
 */
static unsigned slot_of(const char *bytes, long length)
{
    uint64_t hash = (uint64_t)length, part = 0;
    if (length < 8) {
        memcpy(&part, bytes, (size_t)length);
        hash ^= part;
    } else {
        for (long i = 0; i < length - 8; i += 8) {
            memcpy(&part, bytes + i, 8);
            hash = (hash ^ part) * 0x9e3779b97f4a7c15u;
        }
        memcpy(&part, bytes + length - 8, 8);
        hash ^= part;
    }
    hash *= 0x9e3779b97f4a7c15u;
    return (unsigned)(hash >> (64 - SLOT_BITS));
}

VALUE tn_key_string(const char *bytes, long length, bool binary)
{
    if (length == 0 || length > LONGEST || binary)
        return new_key(bytes, length, binary);
    unsigned slot = slot_of(bytes, length);
    VALUE known = RARRAY_AREF(recent, slot);
    if (!NIL_P(known) && RSTRING_LEN(known) == length && memcmp(RSTRING_PTR(known), bytes, (size_t)length) == 0)
        return known;
    VALUE key = new_key(bytes, length, false);
    rb_ary_store(recent, slot, key);
    return key;
}

void tn_keys_init(void)
{
    recent = rb_ary_new_capa(SLOTS);
    rb_gc_register_mark_object(recent);
    rb_ary_store(recent, SLOTS - 1, Qnil);
}
