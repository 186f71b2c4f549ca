/* SPDX-License-Identifier: Apache-2.0 */
#include "sets.h"
#include "place.h"

enum { CHUNK = 64 };

static VALUE set_class;
static bool hash_inside;
static tn_place hash_place;

VALUE tn_set_hash(VALUE set)
{
    if (!hash_inside || RB_SPECIAL_CONST_P(set) || RBASIC_CLASS(set) != set_class)
        return Qnil;
    VALUE hash = tn_place_get(set, &hash_place);
    return RB_TYPE_P(hash, T_HASH) ? hash : Qnil;
}

VALUE tn_set_items(VALUE value)
{
    if (RB_TYPE_P(value, T_ARRAY))
        return value;
    VALUE items;
    if (RTEST(rb_obj_is_kind_of(value, set_class))) {
        items = rb_funcall(value, rb_intern("entries"), 0);
    } else {
        Check_Type(value, T_HASH);
        items = rb_funcall(value, rb_intern("keys"), 0);
    }
    Check_Type(items, T_ARRAY);
    return items;
}

static void add_to_hash(VALUE hash, long count, const VALUE *members)
{
    VALUE pairs[CHUNK * 2];
    while (count > 0) {
        long part = count < CHUNK ? count : CHUNK;
        for (long i = 0; i < part; i++) {
            pairs[2 * i] = members[i];
            pairs[2 * i + 1] = Qtrue;
        }
        rb_hash_bulk_insert(part * 2, pairs, hash);
        members += part;
        count -= part;
    }
}

void tn_set_add(VALUE set, long count, const VALUE *members)
{
    if (hash_inside) {
        add_to_hash(tn_place_get(set, &hash_place), count, members);
        return;
    }
    for (long i = 0; i < count; i++)
        rb_funcall(set, rb_intern("add"), 1, members[i]);
}

VALUE tn_set_new(long count, const VALUE *members)
{
    if (!hash_inside) {
        VALUE items = rb_ary_new_from_values(count, members);
        return rb_class_new_instance(1, &items, set_class);
    }
    VALUE hash = rb_hash_new();
    RHASH_SET_IFNONE(hash, Qfalse); /* as Set#initialize makes it */
    VALUE set = rb_obj_alloc(set_class);
    tn_place_set(set, &hash_place, hash);
    add_to_hash(hash, count, members);
    return set;
}

static bool set_holds_hash(void)
{
    VALUE members = rb_ary_new_from_args(1, INT2FIX(7));
    VALUE set = rb_class_new_instance(1, &members, set_class);
    if (!RB_TYPE_P(set, T_OBJECT) || rb_ivar_count(set) != 1)
        return false;
    tn_place_init(&hash_place, set_class, tn_id_iv_hash);
    VALUE hash = tn_place_get(set, &hash_place);
    return RB_TYPE_P(hash, T_HASH) && RHASH_SIZE(hash) == 1 && rb_hash_lookup(hash, INT2FIX(7)) == Qtrue &&
           rb_hash_aref(hash, INT2FIX(8)) == Qfalse;
}

void tn_sets_init(void)
{
    rb_require("set");
    set_class = rb_path2class("Set");
    rb_gc_register_mark_object(set_class);
    hash_inside = set_holds_hash();
}
