/* SPDX-License-Identifier: Apache-2.0
 * The instance variables are those that the installed thrift's initialize sets, in its order, as an object that it made
 * shows. Whatever isn't the plain case goes to the initialize in lib/thrift/native/protocol.rb. */
#include "protocol_new.h"
#include "exact.h"
#include "stock.h"

#include <string.h>

enum { MOST = 8, RBUF_SIZE = 8, WIRES = 3 };

typedef enum {
    TRANS,
    RESET_MESSAGE_SIZE,
    STRICT_READ,
    STRICT_WRITE,
    MAX_STRING_SIZE,
    LAST_FIELD,
    BOOLEAN_VALUE,
    RBUF,
    VARIABLES
} variable;

static ID names[VARIABLES];

typedef struct {
    tn_kind kind;
    int count; /* 0: leave it to Ruby */
    variable variables[MOST];
    long places[MOST];
    int last; /* the one that is furthest behind in the object; -1 if places are unknown */
} layout;

static layout layouts[WIRES];
static VALUE default_limit; /* bytes */

/* Of these kinds message_boundaries? is BaseTransport's: no. */
static bool plain_transport_p(VALUE transport)
{
    return tn_exact_p(transport, TN_MEMORY) || tn_exact_p(transport, TN_FRAMED) || tn_exact_p(transport, TN_BUFFERED);
}

static const layout *layout_of(VALUE self)
{
    for (int i = 0; i < WIRES; i++) {
        if (RBASIC_CLASS(self) == tn_watch_list[layouts[i].kind].klass && tn_exact_protocol_p(self, layouts[i].kind))
            return layouts[i].count ? &layouts[i] : NULL;
    }
    return NULL;
}

static VALUE zero_bytes(void)
{
    static const char zeros[RBUF_SIZE];
    return rb_str_new(zeros, RBUF_SIZE);
}

static VALUE first_value(variable which, int argc, const VALUE *argv)
{
    switch (which) {
    case TRANS:
        return argv[0];
    case RESET_MESSAGE_SIZE:
        return Qfalse;
    case STRICT_READ:
        return argc > 1 ? argv[1] : Qtrue;
    case STRICT_WRITE:
        return argc > 2 ? argv[2] : Qtrue;
    case MAX_STRING_SIZE:
        return default_limit;
    case LAST_FIELD:
        return rb_ary_new_from_args(1, INT2FIX(0));
    case RBUF:
        return zero_bytes();
    default:
        return Qnil;
    }
}

static void set(VALUE self, const layout *layout, int i, VALUE value)
{
#ifdef TN_FIXED_SLOTS
    if (TN_LIKELY(layout->last >= 0 && layout->places[i] < (long)ROBJECT_NUMIV(self))) {
        RB_OBJ_WRITE(self, &ROBJECT_IVPTR(self)[layout->places[i]], value);
        return;
    }
#endif
    rb_ivar_set(self, names[layout->variables[i]], value);
}

static VALUE make(int argc, VALUE *argv, VALUE self, int most)
{
    const layout *layout = layout_of(self);
    if (!layout || argc < 1 || argc > most || rb_keyword_given_p() || !plain_transport_p(argv[0]))
        return rb_funcallv_kw(self, rb_intern("__tn_initialize"), argc, argv, RB_PASS_CALLED_KEYWORDS);
    rb_check_frozen(self);
    if (layout->last >= 0) /* makes room for all */
        rb_ivar_set(self, names[layout->variables[layout->last]],
                    first_value(layout->variables[layout->last], argc, argv));
    for (int i = 0; i < layout->count; i++) {
        if (i != layout->last)
            set(self, layout, i, first_value(layout->variables[i], argc, argv));
    }
    return Qnil;
}

/* BinaryProtocol.new(transport, strict_read = true, strict_write = true, max_string_size: ...) */
static VALUE binary_initialize(int argc, VALUE *argv, VALUE self)
{
    return make(argc, argv, self, 3);
}

/* CompactProtocol.new(transport, max_string_size: ...) */
static VALUE compact_initialize(int argc, VALUE *argv, VALUE self)
{
    return make(argc, argv, self, 1);
}

static bool find_variable(layout *layout, VALUE name)
{
    for (int i = 0; i < VARIABLES; i++) {
        if (SYM2ID(name) == names[i]) {
            layout->variables[layout->count++] = (variable)i;
            return true;
        }
    }
    return false;
}

static void find_places(layout *layout, VALUE probe)
{
    layout->last = -1;
#ifdef TN_FIXED_SLOTS
    int last = 0;
    for (int i = 0; i < layout->count; i++) {
        VALUE marker = rb_str_new(NULL, 0);
        rb_ivar_set(probe, names[layout->variables[i]], marker);
        layout->places[i] = -1;
        for (long place = 0; place < (long)ROBJECT_NUMIV(probe); place++) {
            if (ROBJECT_IVPTR(probe)[place] == marker)
                layout->places[i] = place;
        }
        if (layout->places[i] < 0)
            return;
        if (layout->places[i] > layout->places[last])
            last = i;
    }
    layout->last = last;
#endif
}

static void find_layout(layout *layout, tn_kind kind, VALUE klass)
{
    layout->kind = kind;
    if (!klass) /* thrift's own extension isn't there */
        return;
    VALUE probe = tn_try_new(klass, tn_try_new(tn_thrift_class("MemoryBufferTransport"), rb_str_new(NULL, 0)));
    if (NIL_P(probe))
        return;
    VALUE found = rb_obj_instance_variables(probe);
    for (long i = 0; i < RARRAY_LEN(found); i++) {
        if (layout->count == MOST || !find_variable(layout, RARRAY_AREF(found, i))) {
            layout->count = 0; /* one that we don't know */
            return;
        }
    }
    if (rb_ivar_defined(probe, names[MAX_STRING_SIZE]))
        default_limit = rb_ivar_get(probe, names[MAX_STRING_SIZE]);
    find_places(layout, probe);
}

void tn_protocol_new_init(VALUE ext)
{
    static const char *const texts[VARIABLES] = {
        [TRANS] = "@trans",
        [RESET_MESSAGE_SIZE] = "@reset_message_size",
        [STRICT_READ] = "@strict_read",
        [STRICT_WRITE] = "@strict_write",
        [MAX_STRING_SIZE] = "@max_string_size",
        [LAST_FIELD] = "@last_field",
        [BOOLEAN_VALUE] = "@boolean_value",
        [RBUF] = "@rbuf",
    };
    for (int i = 0; i < VARIABLES; i++)
        names[i] = rb_intern(texts[i]);
    default_limit = Qnil;
    rb_gc_register_address(&default_limit);
    find_layout(&layouts[0], TN_BINARY, tn_thrift_class("BinaryProtocol"));
    find_layout(&layouts[1], TN_ACCELERATED, tn_thrift_class("BinaryProtocolAccelerated"));
    find_layout(&layouts[2], TN_COMPACT, tn_thrift_class("CompactProtocol"));
    rb_define_private_method(rb_define_module_under(ext, "BinaryProtocol"), "initialize", binary_initialize, -1);
    rb_define_private_method(rb_define_module_under(ext, "CompactProtocol"), "initialize", compact_initialize, -1);
}
