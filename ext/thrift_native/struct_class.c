/* SPDX-License-Identifier: Apache-2.0 */
#include "struct_class.h"
#include "decode.h"
#include "encode.h"
#include "errors.h"
#include "stock.h"

enum { DEFAULT_DEPTH = 64 };

/* ---- reading and writing ---- */

static int depth_argument(int argc, const VALUE *argv)
{
    rb_check_arity(argc, 1, 2);
    int depth = argc == 2 ? NUM2INT(argv[1]) : DEFAULT_DEPTH;
    if (depth <= 0)
        tn_raise_protocol(TN_PROTOCOL_DEPTH_LIMIT, "Maximum recursion depth exceeded");
    return depth;
}

/* All or nothing: the transport is touched only when all is encoded, and looked up anew, for user code may have run. */
static void append_to(const tn_channel *channel, const tn_out *out)
{
    VALUE sink = tn_channel_sink(channel);
    if (!sink)
        rb_raise(rb_eRuntimeError, "the transport was changed while a struct was written to it");
    rb_str_cat(sink, out->base, tn_out_length(out));
}

static bool encode_to(const tn_channel *channel, VALUE self, int depth)
{
    tn_out out;
    tn_out_begin(&out, channel->protocol);
    bool done = tn_encode_struct(&out, self, NULL, channel->wire, depth);
    if (done)
        append_to(channel, &out);
    tn_out_end(&out);
    RB_GC_GUARD(out.holder);
    RB_GC_GUARD(out.string);
    return done;
}

/* struct.write(protocol, remaining_depth = 64) */
static VALUE struct_write(int argc, VALUE *argv, VALUE self)
{
    tn_channel channel;
    int depth = depth_argument(argc, argv);
    if (!tn_channel_of(argv[0], &channel) || !tn_channel_sink(&channel) || !encode_to(&channel, self, depth))
        return rb_funcallv(self, tn_id_stock_write, argc, argv);
    return Qnil;
}

VALUE tn_struct_bytes(VALUE object, VALUE protocol, VALUE transport)
{
    tn_channel channel;
    tn_schema *known = tn_schema_proven(object, TN_PROVEN_WRITE);
    if (!known || !tn_channel_of(protocol, &channel) || channel.transport != transport || !tn_channel_sink(&channel))
        return 0;
    tn_out out;
    tn_out_begin(&out, channel.protocol);
    bool done = tn_encode_struct(&out, object, known, channel.wire, DEFAULT_DEPTH);
    VALUE bytes = done ? tn_out_take(&out) : 0;
    tn_out_end(&out);
    RB_GC_GUARD(out.holder);
    RB_GC_GUARD(out.string);
    return bytes;
}

static bool decode_from(VALUE protocol, VALUE self, tn_schema *known, int depth, bool keeps)
{
    tn_in in;
    tn_schema_operation++;
    if (!tn_in_begin(&in, protocol))
        return false;
    in.keeps = keeps;
    if (!tn_decode_struct(&in, self, known, depth))
        return false;
    tn_in_commit(&in);
    return true;
}

/* struct.read(protocol, remaining_depth = 64) */
static VALUE struct_read(int argc, VALUE *argv, VALUE self)
{
    int depth = depth_argument(argc, argv);
    if (!decode_from(argv[0], self, NULL, depth, false))
        return rb_funcallv(self, tn_id_stock_read, argc, argv);
    return Qnil;
}

void tn_struct_read(VALUE object, VALUE protocol)
{
    tn_schema *known = tn_schema_proven(object, TN_PROVEN_READ);
    if (!known || !decode_from(protocol, object, known, DEFAULT_DEPTH, true))
        rb_funcallv(object, tn_id_read, 1, &protocol);
}

/* ---- making and comparing ---- */

/* NULL: let the stock method do it. Unlike read and write, these don't need FIELDS in every thrift. */
static tn_schema *schema_of_self(VALUE self)
{
    VALUE klass = rb_obj_class(self);
    VALUE holder = rb_attr_get(klass, tn_id_hidden_schema);
    if (NIL_P(holder) && !rb_const_defined(klass, tn_id_FIELDS))
        return NULL;
    return tn_schema_check(klass, NIL_P(holder) ? NULL : RTYPEDDATA_DATA(holder));
}

/* They go by `struct_fields`, where read and write go by FIELDS: in a subclass with a FIELDS of its own these differ.
 */
static bool same_fields(VALUE self, tn_schema *schema)
{
    VALUE holder = schema->holder;
    bool same = rb_funcallv(self, tn_id_struct_fields, 0, NULL) == schema->fields_hash;
    RB_GC_GUARD(holder);
    return same;
}

typedef struct {
    VALUE self;
    tn_schema *schema;
    VALUE given; /* nil, or the Hash of the arguments */
} making;

static tn_field *field_named(tn_schema *schema, VALUE name)
{
    for (long i = 0; i < schema->count; i++) {
        tn_field *field = &schema->fields[i];
        if (name == field->symbol || (RB_TYPE_P(name, T_STRING) && rb_str_equal(name, field->name) == Qtrue))
            return field;
    }
    return NULL;
}

static int set_argument(VALUE name, VALUE value, VALUE argument)
{
    making *m = (making *)argument;
    tn_field *field = field_named(m->schema, name);
    if (!field)
        rb_raise(rb_path2class("Thrift::Exception"), "Unknown key given to %" PRIsVALUE ".new: %" PRIsVALUE,
                 rb_obj_class(m->self), rb_obj_as_string(name));
    tn_field_set(m->self, m->schema, field, value);
    return ST_CONTINUE;
}

/* A subclass of String may have a to_s of its own. */
static int other_name(VALUE name, TN_UNUSED VALUE value, VALUE found)
{
    if (RB_SYMBOL_P(name) || rb_obj_class(name) == rb_cString)
        return ST_CONTINUE;
    *(bool *)found = true;
    return ST_STOP;
}

static bool given_p(VALUE given, const tn_field *field)
{
    if (NIL_P(given))
        return false;
    return rb_hash_lookup2(given, field->symbol, Qundef) != Qundef ||
           rb_hash_lookup2(given, field->name, Qundef) != Qundef;
}

static void set_defaults(making *m)
{
    for (long i = 0; i < m->schema->default_count; i++) {
        tn_field *field = tn_schema_find(m->schema, m->schema->default_ids[i]);
        if (!given_p(m->given, field))
            tn_field_set(m->self, m->schema, field, tn_schema_default_copy(field));
    }
}

static bool plain_arguments(int argc, const VALUE *argv)
{
    bool other = false;
    if (argc == 0)
        return true;
    if (RB_SPECIAL_CONST_P(argv[0]) || RBASIC_CLASS(argv[0]) != rb_cHash ||
        RTEST(rb_attr_get(tn_mThrift, tn_id_iv_type_checking)))
        return false;
    rb_hash_foreach(argv[0], other_name, (VALUE)&other);
    return !other;
}

/* By __send__, for with a block C can call public methods only. At most one argument. */
static VALUE initialize_slowly(int argc, const VALUE *argv, VALUE self)
{
    VALUE arguments[2] = {ID2SYM(tn_id_stock_initialize), argc ? argv[0] : Qnil};
    return rb_funcall_passing_block(self, rb_intern("__send__"), argc + 1, arguments);
}

/* The thrift gem's own Ruby methods keep what they find in the class. Later it may be frozen, and they still work. */
static void fill_caches(VALUE self)
{
    rb_funcall(self, rb_intern("fields_with_default_values"), 0);
    rb_funcall(self, rb_intern("name_to_id"), 1, rb_str_new(NULL, 0));
    rb_funcall(self, rb_intern("sorted_field_ids"), 0);
}

/* Once a class, as the thrift gem then keeps the defaults and the names. */
static bool fields_known(VALUE self, tn_schema *schema)
{
    if (TN_UNLIKELY(schema->struct_fields == TN_FIELDS_UNKNOWN)) {
        schema->struct_fields = same_fields(self, schema) ? TN_FIELDS_SAME : TN_FIELDS_OTHER;
        fill_caches(self);
    }
    return schema->struct_fields == TN_FIELDS_SAME;
}

/* As the thrift gem does it from the second time on: what the class had then counts. */
static bool made_by_defaults(VALUE self)
{
    VALUE klass = rb_obj_class(self), holder = rb_attr_get(klass, tn_id_hidden_schema);
    tn_schema *schema = NIL_P(holder) ? NULL : RTYPEDDATA_DATA(holder);
    if (!schema || schema->klass != klass || schema->struct_fields != TN_FIELDS_SAME || rb_block_given_p() ||
        !tn_schema_helpers_untouched())
        return false;
    tn_schema_set_defaults(schema, self);
    RB_GC_GUARD(holder);
    return true;
}

/* Struct.new(fields = {}) { |struct| } */
static VALUE struct_initialize(int argc, VALUE *argv, VALUE self)
{
    rb_check_arity(argc, 0, 1);
    if (argc == 0 && made_by_defaults(self))
        return Qnil;
    tn_schema *schema = plain_arguments(argc, argv) ? schema_of_self(self) : NULL;
    VALUE holder = schema ? schema->holder : Qnil;
    if (!schema || !fields_known(self, schema))
        return initialize_slowly(argc, argv, self);
    making m = {self, schema, argc ? argv[0] : Qnil};
    tn_field_prepare(self, schema);
    if (argc)
        rb_hash_foreach(argv[0], set_argument, (VALUE)&m);
    set_defaults(&m);
    RB_GC_GUARD(holder);
    if (rb_block_given_p())
        rb_yield(self);
    return Qnil;
}

/* struct == other: of the same class, and all fields are, by their readers. */
static VALUE struct_equal(VALUE self, VALUE other)
{
    tn_schema *schema =
        RB_SPECIAL_CONST_P(other) || rb_obj_class(self) != rb_obj_class(other) ? NULL : schema_of_self(self);
    VALUE holder = schema ? schema->holder : Qnil;
    if (!schema || !same_fields(self, schema))
        return rb_funcallv(self, tn_id_stock_equal, 1, &other);
    for (long i = 0; i < schema->count; i++) {
        ID reader = SYM2ID(schema->fields[i].symbol);
        if (!rb_obj_respond_to(other, reader, 0))
            return Qfalse;
        VALUE mine = rb_funcallv(self, reader, 0, NULL), theirs = rb_funcallv(other, reader, 0, NULL);
        if (!RTEST(rb_funcallv(mine, tn_id_equal, 1, &theirs)))
            return Qfalse;
    }
    RB_GC_GUARD(holder);
    return Qtrue;
}

/* struct.eql?(other): of the same class, and == */
static VALUE struct_eql(VALUE self, VALUE other)
{
    if (RB_SPECIAL_CONST_P(other) || rb_obj_class(self) != rb_obj_class(other))
        return Qfalse;
    return rb_funcallv(self, tn_id_equal, 1, &other);
}

static uint32_t low_bits(VALUE hash)
{
    uint32_t bits = 0;
    if (FIXNUM_P(hash))
        return (uint32_t)FIX2LONG(hash);
    rb_integer_pack(rb_to_int(hash), &bits, 1, sizeof(bits), 0,
                    INTEGER_PACK_2COMP | INTEGER_PACK_LSWORD_FIRST | INTEGER_PACK_NATIVE_BYTE_ORDER);
    return bits;
}

/* struct.hash -> Integer, of the fields by their readers */
static VALUE struct_hash(VALUE self)
{
    tn_schema *schema = schema_of_self(self);
    VALUE holder = schema ? schema->holder : Qnil;
    if (!schema || !same_fields(self, schema))
        return rb_funcallv(self, tn_id_stock_hash, 0, NULL);
    uint32_t total = 17;
    for (long i = 0; i < schema->count; i++) {
        VALUE value = rb_funcallv(self, SYM2ID(schema->fields[i].symbol), 0, NULL);
        total = total * 37 + low_bits(rb_funcallv(value, tn_id_hash, 0, NULL));
    }
    RB_GC_GUARD(holder);
    return UINT2NUM(total);
}

void tn_struct_class_init(VALUE ext)
{
    static const char *const names[] = {"Struct", "Union"};
    for (int i = 0; i < 2; i++) {
        VALUE impl = rb_define_module_under(ext, names[i]);
        rb_define_method(impl, "read", struct_read, -1);
        rb_define_method(impl, "write", struct_write, -1);
    }
    VALUE impl = rb_const_get(ext, rb_intern("Struct"));
    rb_define_private_method(impl, "initialize", struct_initialize, -1);
    rb_define_method(impl, "==", struct_equal, 1);
    rb_define_method(impl, "eql?", struct_eql, 1);
    rb_define_method(impl, "hash", struct_hash, 0);
}
