/* SPDX-License-Identifier: Apache-2.0
 * Reading order: put_struct, put_value, then the containers. Functions with a `compact` argument are inlined into two
 * callers each, with it constant, so that no choice is left at run time. */
#include "encode.h"
#include "names.h"
#include "sets.h"
#include "validate.h"

#include <string.h>

#define INLINED static inline __attribute__((always_inline))

static VALUE bytes_module, protocol_exception;
static bool clips;        /* it takes a byte or i16 out of range, and cuts it (before 0.24) */
static bool says_runtime; /* of a union's unknown field it raises RuntimeError (before 0.23) */
static bool takes_depth;  /* the installed thrift's write has a second argument (0.25) */

void tn_raise_protocol_message(int type, VALUE message)
{
    VALUE arguments[2] = {INT2FIX(type), message};
    rb_exc_raise(rb_class_new_instance(2, arguments, protocol_exception));
}

void tn_raise_protocol(int type, const char *message)
{
    tn_raise_protocol_message(type, rb_str_new_cstr(message));
}

/* ---- numbers ---- */

NORETURN(static void refuse_nil(tn_wire wire));
static void refuse_nil(tn_wire wire)
{
    rb_raise(wire == TN_WIRE_BINARY ? rb_eRuntimeError : rb_eStandardError, "nil argument not allowed!");
}

NORETURN(static void refuse_range(tn_wire wire));
static void refuse_range(tn_wire wire)
{
    if (wire == TN_WIRE_BINARY)
        rb_exc_raise(rb_class_new_instance(0, NULL, rb_eRangeError));
    rb_raise(rb_eRangeError, "integer out of bounds");
}

static bool beyond_i64(VALUE bignum)
{
    int64_t n;
    int sign = rb_integer_pack(bignum, &n, 1, sizeof(n), 0,
                               INTEGER_PACK_2COMP | INTEGER_PACK_NATIVE_BYTE_ORDER | INTEGER_PACK_LSWORD_FIRST);
    return sign < -1 || sign > 1 || (sign > 0) != (n >= 0);
}

static int64_t integer_slow(VALUE value, tn_wire wire)
{
    if (NIL_P(value))
        refuse_nil(wire);
    if (!RB_INTEGER_TYPE_P(value))
        rb_raise(rb_eTypeError, "integer argument expected");
    if (wire == TN_WIRE_BINARY && beyond_i64(value))
        refuse_range(wire);
    return NUM2LL(value);
}

int64_t tn_checked_integer(VALUE value, int64_t least, int64_t most, tn_wire wire)
{
    int64_t integer = FIXNUM_P(value) ? FIX2LONG(value) : integer_slow(value, wire);
    if (TN_UNLIKELY(integer < least || integer > most))
        refuse_range(wire);
    return integer;
}

/* Before 0.24 what doesn't fit into a byte or i16 is cut, as the thrift gem's own specs want it. */
static int32_t small_integer(VALUE value, int32_t least, int32_t most, tn_wire wire)
{
    if (TN_UNLIKELY(clips))
        return (int32_t)tn_checked_integer(value, INT32_MIN, INT32_MAX, wire);
    return (int32_t)tn_checked_integer(value, least, most, wire);
}

INLINED void put_integer(tn_out *out, VALUE value, tn_ttype type, tn_wire wire, const bool compact)
{
    tn_out_reserve(out, TN_VARINT64_MAX);
    switch (type) {
    case TN_T_BYTE:
        tn_out_byte(out, small_integer(value, INT8_MIN, INT8_MAX, wire));
        break;
    case TN_T_I16: {
        int32_t n = small_integer(value, INT16_MIN, INT16_MAX, wire);
        if (compact) {
            out->p = tn_put_varint(out->p, tn_zigzag32(n));
        } else {
            tn_put_be16(out->p, (uint16_t)n);
            out->p += 2;
        }
        break;
    }
    case TN_T_I32: {
        int32_t n = (int32_t)tn_checked_integer(value, INT32_MIN, INT32_MAX, wire);
        if (compact) {
            out->p = tn_put_varint(out->p, tn_zigzag32(n));
        } else {
            tn_put_be32(out->p, (uint32_t)n);
            out->p += 4;
        }
        break;
    }
    default: {
        int64_t n = FIXNUM_P(value) ? FIX2LONG(value) : integer_slow(value, wire);
        if (compact) {
            out->p = tn_put_varint(out->p, tn_zigzag64(n));
        } else {
            tn_put_be64(out->p, (uint64_t)n);
            out->p += 8;
        }
    }
    }
}

static double double_slow(VALUE value, tn_wire wire)
{
    if (NIL_P(value))
        refuse_nil(wire);
    /* Array#pack takes numbers only, the C code what Kernel#Float takes. */
    return RFLOAT_VALUE(wire == TN_WIRE_BINARY ? rb_to_float(value) : rb_Float(value));
}

INLINED void put_double(tn_out *out, VALUE value, tn_wire wire, const bool compact)
{
    double number = RB_FLOAT_TYPE_P(value) ? RFLOAT_VALUE(value) : double_slow(value, wire);
    tn_out_reserve(out, 8);
    if (compact)
        tn_put_le64(out->p, tn_bits_of_double(number));
    else
        tn_put_be64(out->p, tn_bits_of_double(number));
    out->p += 8;
}

/* ---- strings ---- */

INLINED void put_length(tn_out *out, long length, const bool compact)
{
    if (TN_UNLIKELY(length > INT32_MAX))
        rb_raise(rb_eRangeError, compact ? "integer out of bounds" : "string too long");
    tn_out_reserve(out, (size_t)length + TN_VARINT32_MAX);
    if (compact) {
        out->p = tn_put_varint(out->p, (uint64_t)length);
    } else {
        tn_put_be32(out->p, (uint32_t)length);
        out->p += 4;
    }
}

INLINED void put_bytes(tn_out *out, VALUE string, const bool compact)
{
    long length = RSTRING_LEN(string);
    put_length(out, length, compact);
    memcpy(out->p, RSTRING_PTR(string), (size_t)length);
    out->p += length;
}

/* What isn't a String gets the answer that the stock code gives; so does a subclass, with an `encode` of its own. */
static VALUE text_slow(VALUE value, tn_wire wire)
{
    if (!RB_TYPE_P(value, T_STRING) || RBASIC_CLASS(value) != rb_cString) {
        if (NIL_P(value) && wire != TN_WIRE_COMPACT)
            refuse_nil(wire);
        if (!RB_TYPE_P(value, T_STRING) && wire == TN_WIRE_ACCELERATED)
            rb_raise(rb_eStandardError, "Value should be a string");
        value = rb_funcall(bytes_module, rb_intern("convert_to_utf8_byte_buffer"), 1, value);
        StringValue(value);
        return value;
    }
    if (rb_enc_str_asciionly_p(value))
        return value;
    return rb_str_encode(value, rb_enc_from_encoding(rb_utf8_encoding()), 0, Qnil);
}

static inline bool utf8_p(VALUE string)
{
    return RB_ENCODING_GET_INLINED(string) == rb_utf8_encindex();
}

INLINED void put_text(tn_out *out, VALUE value, tn_wire wire, const bool compact)
{
    if (TN_UNLIKELY(!RB_TYPE_P(value, T_STRING) || !utf8_p(value) || RBASIC_CLASS(value) != rb_cString))
        value = text_slow(value, wire);
    put_bytes(out, value, compact);
    RB_GC_GUARD(value);
}

static VALUE binary_slow(VALUE value, tn_wire wire)
{
    if (NIL_P(value) && wire != TN_WIRE_COMPACT)
        refuse_nil(wire);
    if (wire == TN_WIRE_BINARY) {
        value = rb_funcall(value, rb_intern("bytesize"), 0);
    } else {
        rb_funcall(value, rb_intern("encoding"), 0); /* as 0.25: the same NoMethodError with every thrift */
        value = rb_funcall(bytes_module, rb_intern("force_binary_encoding"), 1, value);
    }
    StringValue(value);
    return value;
}

INLINED void put_binary(tn_out *out, VALUE value, tn_wire wire, const bool compact)
{
    if (TN_UNLIKELY(!RB_TYPE_P(value, T_STRING)))
        value = binary_slow(value, wire);
    put_bytes(out, value, compact);
    RB_GC_GUARD(value);
}

static int hex_digit(int c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* 8-4-4-4-12 hexadecimal digits (RFC 9562) to 16 bytes. */
static bool parse_uuid(const char *text, char *bytes)
{
    int count = 0;
    for (int i = 0; i < 36;) {
        if (i == 8 || i == 13 || i == 18 || i == 23) {
            if (text[i++] != '-')
                return false;
            continue;
        }
        int high = hex_digit((unsigned char)text[i]), low = hex_digit((unsigned char)text[i + 1]);
        if (high < 0 || low < 0)
            return false;
        bytes[count++] = (char)(high << 4 | low);
        i += 2;
    }
    return true;
}

/* BinaryProtocol, in Ruby, has a Ruby method say what's wrong. */
static void refuse_uuid(VALUE value, tn_wire wire)
{
    ID uuid = rb_intern("UUID");
    if (wire == TN_WIRE_BINARY && rb_const_defined_at(tn_mThrift, uuid))
        rb_funcall(rb_const_get_at(tn_mThrift, uuid), rb_intern("validate_uuid!"), 1, value);
}

void tn_encode_uuid(tn_out *out, VALUE value, tn_wire wire)
{
    if (!RB_TYPE_P(value, T_STRING)) {
        refuse_uuid(value, wire);
        tn_raise_protocol(TN_PROTOCOL_INVALID_DATA, "UUID must be a string");
    }
    tn_out_reserve(out, 16);
    if (RSTRING_LEN(value) != 36 || !parse_uuid(RSTRING_PTR(value), out->p)) {
        refuse_uuid(value, wire);
        tn_raise_protocol(TN_PROTOCOL_INVALID_DATA, "Invalid UUID format");
    }
    out->p += 16;
}

/* ---- containers ---- */

static void put_struct_in_binary(tn_out *out, VALUE object, tn_schema *schema, tn_wire wire, int depth);
static void put_struct_in_compact(tn_out *out, VALUE object, tn_schema *schema, tn_wire wire, int depth);
static void put_container_in_binary(tn_out *out, VALUE value, tn_type *type, tn_wire wire, int depth);
static void put_container_in_compact(tn_out *out, VALUE value, tn_type *type, tn_wire wire, int depth);

/* What isn't a struct fails in the way of the stock code, which calls validate before it looks for FIELDS. */
static void refuse_other(VALUE object)
{
    VALUE klass = rb_obj_class(object);
    if (NIL_P(rb_attr_get(klass, tn_id_hidden_schema)) && !rb_const_defined(klass, tn_id_FIELDS))
        rb_funcallv(object, tn_id_validate, 0, NULL);
}

/* A struct whose FIELDS we don't understand, inside of one that we do: by way of a protocol and a memory buffer of its
 * own. What a struct looks like doesn't depend on what is around it. */
static void put_by_stock_code(tn_out *out, VALUE object, int depth)
{
    VALUE memory = rb_class_new_instance(0, NULL, rb_path2class("Thrift::MemoryBufferTransport"));
    VALUE protocol = rb_class_new_instance(1, &memory, rb_obj_class(out->protocol));
    VALUE arguments[2] = {protocol, INT2FIX(depth)};
    rb_funcallv(object, tn_id_stock_write, takes_depth ? 2 : 1, arguments);
    VALUE bytes = rb_funcall(memory, tn_id_read, 1, rb_funcall(memory, rb_intern("available"), 0));
    StringValue(bytes);
    tn_out_bytes(out, RSTRING_PTR(bytes), (size_t)RSTRING_LEN(bytes));
    RB_GC_GUARD(bytes);
}

static void put_inner_struct(tn_out *out, VALUE object, tn_type *type, tn_wire wire, int depth, const bool compact)
{
    if (TN_UNLIKELY(depth <= 0))
        tn_raise_protocol(TN_PROTOCOL_DEPTH_LIMIT, "Maximum recursion depth exceeded");
    if (TN_UNLIKELY(RB_SPECIAL_CONST_P(object)))
        rb_funcallv(object, tn_id_validate, 0, NULL); /* NoMethodError, as in the stock code */
    if (TN_UNLIKELY(!type->checked || type->klass != RBASIC_CLASS(object)))
        refuse_other(object);
    tn_schema *schema = tn_schema_inside(object, type);
    if (TN_UNLIKELY(!schema))
        put_by_stock_code(out, object, depth);
    else if (compact)
        put_struct_in_compact(out, object, schema, wire, depth);
    else
        put_struct_in_binary(out, object, schema, wire, depth);
}

INLINED void put_value(tn_out *out, VALUE value, tn_type *type, tn_wire wire, int depth, const bool compact)
{
    switch (type->ttype) {
    case TN_T_BOOL:
        tn_out_reserve(out, 1);
        tn_out_byte(out, compact ? (RTEST(value) ? TN_C_TRUE : TN_C_FALSE) : RTEST(value));
        break;
    case TN_T_BYTE:
    case TN_T_I16:
    case TN_T_I32:
    case TN_T_I64:
        put_integer(out, value, type->ttype, wire, compact);
        break;
    case TN_T_DOUBLE:
        put_double(out, value, wire, compact);
        break;
    case TN_T_STRING:
        if (type->binary)
            put_binary(out, value, wire, compact);
        else
            put_text(out, value, wire, compact);
        break;
    case TN_T_UUID:
        tn_encode_uuid(out, value, wire);
        break;
    case TN_T_STRUCT:
        put_inner_struct(out, value, type, wire, depth - 1, compact);
        break;
    default:
        if (compact)
            put_container_in_compact(out, value, type, wire, depth);
        else
            put_container_in_binary(out, value, type, wire, depth);
    }
}

INLINED void put_list_header(tn_out *out, tn_type *element, long size, const bool compact)
{
    if (TN_UNLIKELY(size > INT32_MAX))
        rb_raise(rb_eRangeError, "integer out of bounds");
    tn_out_reserve(out, 1 + TN_VARINT32_MAX);
    if (!compact) {
        tn_out_byte(out, element->ttype);
        tn_put_be32(out->p, (uint32_t)size);
        out->p += 4;
    } else if (size <= 14) {
        tn_out_byte(out, (int)size << 4 | tn_compact_type(element->ttype));
    } else {
        tn_out_byte(out, 0xf0 | tn_compact_type(element->ttype));
        out->p = tn_put_varint(out->p, (uint64_t)size);
    }
}

INLINED void put_map_header(tn_out *out, tn_type *type, long size, const bool compact)
{
    if (TN_UNLIKELY(size > INT32_MAX))
        rb_raise(rb_eRangeError, "integer out of bounds");
    tn_out_reserve(out, 2 + TN_VARINT32_MAX);
    if (!compact) {
        tn_out_byte(out, type->key->ttype);
        tn_out_byte(out, type->value->ttype);
        tn_put_be32(out->p, (uint32_t)size);
        out->p += 4;
        return;
    }
    out->p = tn_put_varint(out->p, (uint64_t)size);
    if (size > 0)
        tn_out_byte(out, tn_compact_type(type->key->ttype) << 4 | tn_compact_type(type->value->ttype));
}

/* Elements that run no Ruby: the array can't change under us, and numbers need one check for room. */
INLINED bool put_numbers(tn_out *out, VALUE array, tn_type *element, tn_wire wire, const bool compact)
{
    long size = RARRAY_LEN(array);
    switch (element->ttype) {
    case TN_T_I64:
    case TN_T_I32:
        tn_out_reserve(out, (size_t)size * TN_VARINT64_MAX + TN_VARINT64_MAX);
        for (long i = 0; i < size; i++)
            put_integer(out, RARRAY_AREF(array, i), element->ttype, wire, compact);
        return true;
    case TN_T_DOUBLE:
        for (long i = 0; i < size; i++) /* Kernel#Float may call to_f, which may shorten the array */
            put_double(out, rb_ary_entry(array, i), wire, compact);
        return true;
    default:
        return false;
    }
}

INLINED void put_array(tn_out *out, VALUE array, tn_type *element, tn_wire wire, int depth, const bool compact)
{
    long size = RARRAY_LEN(array);
    put_list_header(out, element, size, compact);
    if (put_numbers(out, array, element, wire, compact))
        return;
    for (long i = 0; i < size; i++) /* user code may shorten it: then elements are nil, as in the stock code */
        put_value(out, rb_ary_entry(array, i), element, wire, depth, compact);
}

typedef struct {
    tn_out *out;
    tn_type *type;
    tn_wire wire;
    int depth;
    long left;
} iterating;

/* What isn't of the type that FIELDS says may be asked to become so, by user code: a String in another encoding, an
 * object with to_f. */
NORETURN(static void refuse_change(void));
static void refuse_change(void)
{
    rb_raise(rb_eRuntimeError, "a container was changed while it was written");
}

static void one_less(iterating *i)
{
    if (i->left-- <= 0)
        refuse_change();
}

static void check_none_left(const iterating *i)
{
    if (i->left > 0)
        refuse_change();
}

static int put_pair_in_binary(VALUE key, VALUE value, VALUE argument)
{
    iterating *i = (iterating *)argument;
    one_less(i);
    put_value(i->out, key, i->type->key, i->wire, i->depth, false);
    put_value(i->out, value, i->type->value, i->wire, i->depth, false);
    return ST_CONTINUE;
}

static int put_pair_in_compact(VALUE key, VALUE value, VALUE argument)
{
    iterating *i = (iterating *)argument;
    one_less(i);
    put_value(i->out, key, i->type->key, i->wire, i->depth, true);
    put_value(i->out, value, i->type->value, i->wire, i->depth, true);
    return ST_CONTINUE;
}

static int put_key_in_binary(VALUE key, TN_UNUSED VALUE value, VALUE argument)
{
    iterating *i = (iterating *)argument;
    one_less(i);
    put_value(i->out, key, i->type->value, i->wire, i->depth, false);
    return ST_CONTINUE;
}

static int put_key_in_compact(VALUE key, TN_UNUSED VALUE value, VALUE argument)
{
    iterating *i = (iterating *)argument;
    one_less(i);
    put_value(i->out, key, i->type->value, i->wire, i->depth, true);
    return ST_CONTINUE;
}

static int collect_pair(VALUE key, VALUE value, VALUE pairs)
{
    rb_ary_push(pairs, key);
    rb_ary_push(pairs, value);
    return ST_CONTINUE;
}

/* As the stock code looks at a Hash whose class may have methods of its own. */
static VALUE pairs_by_keys(VALUE hash)
{
    VALUE keys = rb_funcall(hash, rb_intern("keys"), 0), pairs = rb_ary_new();
    Check_Type(keys, T_ARRAY);
    for (long i = 0; i < RARRAY_LEN(keys); i++) {
        VALUE key = RARRAY_AREF(keys, i);
        rb_ary_push(pairs, key);
        rb_ary_push(pairs, rb_hash_aref(hash, key));
    }
    RB_GC_GUARD(keys);
    return pairs;
}

static VALUE pairs_of(VALUE hash)
{
    if (TN_UNLIKELY(RBASIC_CLASS(hash) != rb_cHash))
        return pairs_by_keys(hash);
    VALUE pairs = rb_ary_new_capa((long)RHASH_SIZE(hash) * 2);
    rb_hash_foreach(hash, collect_pair, pairs);
    return pairs;
}

/* User code may run between the entries, and may change the hash: a copy of the entries is written. */
INLINED void put_snapshot(tn_out *out, VALUE hash, tn_type *type, tn_wire wire, int depth, const bool compact)
{
    VALUE pairs = pairs_of(hash);
    put_map_header(out, type, RARRAY_LEN(pairs) / 2, compact);
    for (long i = 0; i + 1 < RARRAY_LEN(pairs); i += 2) {
        put_value(out, RARRAY_AREF(pairs, i), type->key, wire, depth, compact);
        put_value(out, RARRAY_AREF(pairs, i + 1), type->value, wire, depth, compact);
    }
    RB_GC_GUARD(pairs);
}

INLINED void put_map(tn_out *out, VALUE hash, tn_type *type, tn_wire wire, int depth, const bool compact)
{
    if (TN_UNLIKELY(type->runs_ruby || RBASIC_CLASS(hash) != rb_cHash)) {
        put_snapshot(out, hash, type, wire, depth, compact);
        return;
    }
    iterating i = {out, type, wire, depth, (long)RHASH_SIZE(hash)};
    put_map_header(out, type, i.left, compact);
    rb_hash_foreach(hash, compact ? put_pair_in_compact : put_pair_in_binary, (VALUE)&i);
    check_none_left(&i);
}

/* Set, Array or Hash (its keys), as the stock code takes them. */
INLINED void put_set(tn_out *out, VALUE value, tn_type *type, tn_wire wire, int depth, const bool compact)
{
    VALUE hash = !RB_SPECIAL_CONST_P(value) && RBASIC_CLASS(value) == rb_cHash ? value : tn_set_hash(value);
    if (RTEST(hash) && !type->value->runs_ruby) {
        iterating i = {out, type, wire, depth, (long)RHASH_SIZE(hash)};
        put_list_header(out, type->value, i.left, compact);
        rb_hash_foreach(hash, compact ? put_key_in_compact : put_key_in_binary, (VALUE)&i);
        check_none_left(&i);
        return;
    }
    put_array(out, tn_set_items(value), type->value, wire, depth, compact);
}

INLINED void put_container(tn_out *out, VALUE value, tn_type *type, tn_wire wire, int depth, const bool compact)
{
    switch (type->ttype) {
    case TN_T_MAP:
        Check_Type(value, T_HASH);
        put_map(out, value, type, wire, depth, compact);
        break;
    case TN_T_SET:
        put_set(out, value, type, wire, depth, compact);
        break;
    default:
        Check_Type(value, T_ARRAY);
        put_array(out, value, type->value, wire, depth, compact);
    }
    RB_GC_GUARD(value);
}

static void put_container_in_binary(tn_out *out, VALUE value, tn_type *type, tn_wire wire, int depth)
{
    put_container(out, value, type, wire, depth, false);
}

static void put_container_in_compact(tn_out *out, VALUE value, tn_type *type, tn_wire wire, int depth)
{
    put_container(out, value, type, wire, depth, true);
}

/* ---- structs ---- */

INLINED void put_field_header(tn_out *out, tn_field *field, int ctype, int *last_id, const bool compact)
{
    tn_out_reserve(out, 1 + TN_VARINT32_MAX);
    if (!compact) {
        tn_out_byte(out, field->type.ttype);
        tn_put_be16(out->p, (uint16_t)field->id);
        out->p += 2;
        return;
    }
    int delta = field->id - *last_id;
    if (delta > 0 && delta <= 15) {
        tn_out_byte(out, delta << 4 | ctype);
    } else {
        tn_out_byte(out, ctype);
        out->p = tn_put_varint(out->p, tn_zigzag32(field->id));
    }
    *last_id = field->id;
}

INLINED void put_field(tn_out *out, tn_field *field, VALUE value, int *last_id, tn_wire wire, int depth,
                       const bool compact)
{
    if (compact && field->type.ttype == TN_T_BOOL) { /* the value is in the type */
        put_field_header(out, field, RTEST(value) ? TN_C_TRUE : TN_C_FALSE, last_id, true);
        return;
    }
    put_field_header(out, field, compact ? tn_compact_type(field->type.ttype) : 0, last_id, compact);
    put_value(out, value, &field->type, wire, depth, compact);
}

static tn_field *set_field_of(VALUE object, tn_schema *schema)
{
    VALUE name = rb_funcallv(rb_attr_get(object, tn_id_iv_setfield), tn_id_to_s, 0, NULL);
    for (long i = 0; i < schema->count; i++) {
        if (rb_str_equal(schema->fields[i].name, name) == Qtrue)
            return &schema->fields[i];
    }
    if (says_runtime)
        rb_raise(rb_eRuntimeError, "set_field is not valid for this union!");
    tn_raise_protocol(TN_PROTOCOL_INVALID_DATA, "set_field is not valid for this union!");
}

INLINED void put_struct(tn_out *out, VALUE object, tn_schema *schema, tn_wire wire, int depth, const bool compact)
{
    VALUE holder = schema->holder; /* user code may give the class another schema */
    int last_id = 0;
    if (TN_UNLIKELY(!tn_validate_passes(object, schema)))
        rb_funcallv(object, tn_id_validate, 0, NULL);
    if (TN_UNLIKELY(schema->is_union)) {
        tn_field *field = set_field_of(object, schema);
        put_field(out, field, rb_attr_get(object, tn_id_iv_value), &last_id, wire, depth, compact);
    } else {
        bool others = tn_field_others_set(object, schema);
        for (long i = 0; i < schema->count; i++) {
            tn_field *field = &schema->fields[i];
            if (!others && tn_field_unseen(field))
                continue;
            VALUE value = tn_field_get(object, schema, field);
            if (NIL_P(value))
                continue;
            put_field(out, field, value, &last_id, wire, depth, compact);
            if (TN_UNLIKELY(field->type.runs_ruby && !others)) /* it may have set one */
                others = tn_field_others_set(object, schema);
        }
    }
    tn_out_reserve(out, 1);
    tn_out_byte(out, TN_T_STOP);
    RB_GC_GUARD(holder);
    RB_GC_GUARD(object);
}

static void put_struct_in_binary(tn_out *out, VALUE object, tn_schema *schema, tn_wire wire, int depth)
{
    put_struct(out, object, schema, wire, depth, false);
}

static void put_struct_in_compact(tn_out *out, VALUE object, tn_schema *schema, tn_wire wire, int depth)
{
    put_struct(out, object, schema, wire, depth, true);
}

static tn_schema *schema_of_outermost(VALUE object, tn_schema *known)
{
    if (known)
        return tn_schema_check(RBASIC_CLASS(object), known);
    VALUE klass = rb_obj_class(object);
    VALUE holder = rb_attr_get(klass, tn_id_hidden_schema);
    if (NIL_P(holder))
        refuse_other(object);
    return tn_schema_check(klass, NIL_P(holder) ? NULL : RTYPEDDATA_DATA(holder));
}

bool tn_encode_struct(tn_out *out, VALUE object, tn_schema *known, tn_wire wire, int depth)
{
    tn_schema_operation++;
    tn_schema *schema = schema_of_outermost(object, known);
    if (!schema)
        return false;
    if (wire == TN_WIRE_COMPACT)
        put_struct_in_compact(out, object, schema, wire, depth);
    else
        put_struct_in_binary(out, object, schema, wire, depth);
    return true;
}

/* ---- one value ---- */

void tn_encode_string(tn_out *out, VALUE value, tn_wire wire)
{
    put_text(out, value, wire, wire == TN_WIRE_COMPACT);
}

void tn_encode_binary(tn_out *out, VALUE value, tn_wire wire)
{
    put_binary(out, value, wire, wire == TN_WIRE_COMPACT);
}

void tn_encode_double(tn_out *out, VALUE value, tn_wire wire)
{
    put_double(out, value, wire, wire == TN_WIRE_COMPACT);
}

void tn_encode_integer(tn_out *out, VALUE value, tn_ttype type, tn_wire wire)
{
    put_integer(out, value, type, wire, wire == TN_WIRE_COMPACT);
}

void tn_encode_init(void)
{
    bytes_module = rb_path2class("Thrift::Bytes");
    rb_gc_register_mark_object(bytes_module);
    protocol_exception = rb_path2class("Thrift::ProtocolException");
    rb_gc_register_mark_object(protocol_exception);
    clips = !rb_const_defined(tn_thrift_class("BinaryProtocol"), rb_intern("BYTE_MIN"));
    says_runtime = !rb_const_defined(tn_thrift_class("Types"), rb_intern("UUID"));
    takes_depth = rb_const_defined(tn_mThrift, rb_intern("DEFAULT_RECURSION_DEPTH"));
}
