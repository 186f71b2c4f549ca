/* SPDX-License-Identifier: Apache-2.0 */
#include "exact.h"

tn_watched tn_watch_list[TN_KINDS];

static const char *const kind_names[TN_KINDS] = {"base",     "socket", "ssl_socket", "unix_socket",
                                                 "buffered", "framed", "memory"};

static tn_watched *find_kind(VALUE symbol)
{
    Check_Type(symbol, T_SYMBOL);
    for (int kind = 0; kind < TN_KINDS; kind++) {
        if (SYM2ID(symbol) == rb_intern(kind_names[kind]))
            return &tn_watch_list[kind];
    }
    rb_raise(rb_eArgError, "unknown kind of transport: %" PRIsVALUE, rb_sym2str(symbol));
}

/* Ext.watch(kind, klass): remembers the class as it is now. */
static VALUE ext_watch(VALUE ext, VALUE kind, VALUE klass)
{
    Check_Type(klass, T_CLASS);
    tn_watched *watched = find_kind(kind);
    VALUE super = rb_class_get_superclass(klass);
    rb_gc_register_mark_object(klass);
    rb_gc_register_mark_object(super);
    watched->super = super;
    watched->touched = false;
    watched->klass = klass;
    return Qnil;
}

/* Ext.touched(klass): a method of the class was defined, removed or undefined. */
static VALUE ext_touched(VALUE ext, VALUE klass)
{
    for (int kind = 0; kind < TN_KINDS; kind++) {
        if (tn_watch_list[kind].klass == klass)
            tn_watch_list[kind].touched = true;
    }
    return Qnil;
}

static bool kind_untouched(tn_kind kind)
{
    return tn_watch_list[kind].klass && tn_class_untouched(&tn_watch_list[kind]);
}

/* Ext.exact?(kind): may C still stand in for the methods of this class? */
static VALUE ext_exact_p(VALUE ext, VALUE kind)
{
    tn_kind found = (tn_kind)(find_kind(kind) - tn_watch_list);
    bool exact = kind_untouched(found) && kind_untouched(TN_BASE);
    if (found == TN_SSL_SOCKET || found == TN_UNIX_SOCKET)
        exact = exact && kind_untouched(TN_SOCKET);
    return exact ? Qtrue : Qfalse;
}

void tn_exact_init(VALUE ext)
{
    rb_define_module_function(ext, "watch", ext_watch, 2);
    rb_define_module_function(ext, "touched", ext_touched, 1);
    rb_define_module_function(ext, "exact?", ext_exact_p, 1);
}
