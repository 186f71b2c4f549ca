/* SPDX-License-Identifier: Apache-2.0 */
#include "names.h"

#define TN_DEFINE_ID(name, text) ID tn_id_##name;
TN_IDS(TN_DEFINE_ID)
#undef TN_DEFINE_ID

VALUE tn_mThrift;
VALUE tn_cBaseTransport;
VALUE tn_eTransportException;

static VALUE known_class(const char *name)
{
    VALUE klass = rb_path2class(name);
    rb_gc_register_mark_object(klass);
    return klass;
}

/* The thrift gem's own extension keeps the addresses of these and, before 0.25, tells nobody: a collector that compacts
 * would move them away, and the next string that is read crash. */
static void pin_what_thrift_forgot(void)
{
    static const char *const names[] = {"Bytes", "Types", "Union", "CompactProtocol", "ProtocolException"};
    rb_gc_register_mark_object(rb_const_get(rb_cObject, rb_intern("Set")));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        ID name = rb_intern(names[i]);
        if (rb_const_defined(tn_mThrift, name))
            rb_gc_register_mark_object(rb_const_get(tn_mThrift, name));
    }
}

VALUE tn_thrift_class(const char *name)
{
    ID id = rb_intern(name);
    return rb_const_defined_at(tn_mThrift, id) ? rb_const_get_at(tn_mThrift, id) : 0;
}

static VALUE new_instance(VALUE all)
{
    const VALUE *parts = RARRAY_CONST_PTR(all);
    return rb_class_new_instance(RARRAY_LENINT(all) - 1, parts + 1, parts[0]);
}

static VALUE no_instance(TN_UNUSED VALUE all, TN_UNUSED VALUE error)
{
    return Qnil;
}

VALUE tn_try_new(VALUE klass, VALUE argument)
{
    VALUE parts = argument ? rb_assoc_new(klass, argument) : rb_ary_new_from_args(1, klass);
    return rb_rescue(new_instance, parts, no_instance, parts);
}

void tn_names_init(void)
{
#define TN_INTERN_ID(name, text) tn_id_##name = rb_intern(text);
    TN_IDS(TN_INTERN_ID)
#undef TN_INTERN_ID
    tn_mThrift = known_class("Thrift");
    tn_cBaseTransport = known_class("Thrift::BaseTransport");
    tn_eTransportException = known_class("Thrift::TransportException");
    pin_what_thrift_forgot();
}
