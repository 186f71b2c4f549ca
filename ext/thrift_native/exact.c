/* SPDX-License-Identifier: Apache-2.0 */
#include "exact.h"

tn_watched tn_watch_list[TN_KINDS];

static const char *const kind_names[TN_KINDS] = {
    "base",   "socket",      "ssl_socket", "unix_socket", "buffered",  "framed", "memory",      "base_protocol",
    "binary", "accelerated", "compact",    "multiplexed", "decorator", "struct", "struct_union"};

static tn_watched *find_kind(VALUE symbol)
{
    Check_Type(symbol, T_SYMBOL);
    for (int kind = 0; kind < TN_KINDS; kind++) {
        if (SYM2ID(symbol) == rb_intern(kind_names[kind]))
            return &tn_watch_list[kind];
    }
    rb_raise(rb_eArgError, "unknown kind of transport: %" PRIsVALUE, rb_sym2str(symbol));
}

#ifdef TN_FIXED_SLOTS
static long place_of(VALUE probe, VALUE marker)
{
    for (long i = 0; i < (long)ROBJECT_NUMIV(probe); i++) {
        if (ROBJECT_IVPTR(probe)[i] == marker)
            return i;
    }
    return -1;
}
#endif

/* Looks where Ruby puts the instance variables. The probe is made by the class's own initialize, so that their order is
 * what it would be without us. */
static void find_places(tn_watched *watched, tn_kind kind)
{
    for (int slot = 0; slot < TN_SLOTS; slot++)
        watched->place[slot] = -1;
#ifdef TN_FIXED_SLOTS
    if (kind != TN_BUFFERED && kind != TN_FRAMED && kind != TN_MEMORY)
        return;
    VALUE probe = tn_try_new(watched->klass, Qnil);
    const ID names[TN_SLOTS] = {tn_id_iv_transport, kind == TN_MEMORY ? tn_id_iv_buf : tn_id_iv_rbuf,
                                tn_id_iv_wbuf,      tn_id_iv_index,
                                tn_id_iv_read,      tn_id_iv_write};
    for (int slot = 0; slot < TN_SLOTS && RB_TYPE_P(probe, T_OBJECT); slot++) {
        VALUE marker = rb_str_new(NULL, 0);
        if (!RTEST(rb_ivar_defined(probe, names[slot])))
            continue;
        rb_ivar_set(probe, names[slot], marker);
        watched->place[slot] = (short)place_of(probe, marker);
    }
#endif
}

/* Ext.watch(kind, klass): remembers the class or module as it is now. */
static VALUE ext_watch(TN_UNUSED VALUE ext, VALUE kind, VALUE klass)
{
    if (!RB_TYPE_P(klass, T_MODULE))
        Check_Type(klass, T_CLASS);
    tn_watched *watched = find_kind(kind);
    VALUE super = rb_class_get_superclass(klass);
    rb_gc_register_mark_object(klass);
    if (super) /* a module has none until something is prepended to it or included in it */
        rb_gc_register_mark_object(super);
    watched->super = super;
    watched->klass = klass;
    find_places(watched, (tn_kind)(watched - tn_watch_list));
    watched->touched = false;
    return Qnil;
}

/* Ext.touched(klass): a method of the class was defined, removed or undefined. */
static VALUE ext_touched(TN_UNUSED VALUE ext, VALUE klass)
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
static VALUE ext_exact_p(TN_UNUSED VALUE ext, VALUE kind)
{
    tn_kind found = (tn_kind)(find_kind(kind) - tn_watch_list);
    bool exact = kind_untouched(found) && kind_untouched(TN_BASE);
    if (found == TN_SSL_SOCKET || found == TN_UNIX_SOCKET)
        exact = exact && kind_untouched(TN_SOCKET);
    return exact ? Qtrue : Qfalse;
}

void tn_exact_init(VALUE ext)
{
    for (int kind = 0; kind < TN_KINDS; kind++)
        tn_watch_list[kind].touched = true; /* until watched */
    rb_define_module_function(ext, "watch", ext_watch, 2);
    rb_define_module_function(ext, "touched", ext_touched, 1);
    rb_define_module_function(ext, "exact?", ext_exact_p, 1);
}
