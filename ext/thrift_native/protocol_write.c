/* SPDX-License-Identifier: Apache-2.0
 * The write methods. Each one looks at its arguments first, as user code may run then, and writes afterwards: what
 * raises leaves no byte behind. */
#include "encode.h"
#include "protocol.h"
#include "stock.h"
#include "wire.h"

#include <string.h>

enum { VERSION_1 = 0x8001, COMPACT_ID = 0x82, COMPACT_VERSION = 1, ROOM = 48 };

static bool split_varints; /* the installed thrift writes a varint byte by byte (before 0.25) */
static bool split_version; /* and a BinaryProtocol's version in two halves (before 0.24) */

/* What one method writes: collected in `bytes`, or given to the transport's `write` in the pieces that the stock code
 * would give it. */
typedef struct {
    tn_channel channel;
    VALUE sink; /* the transport's buffer; 0: its `write` is called */
    VALUE last; /* what `write` returned */
    char *p;
    char bytes[ROOM];
} writer;

/* False: use the stock method. */
static inline bool begin(writer *w, VALUE self)
{
    w->p = w->bytes;
    w->last = Qnil;
    return tn_channel_of_protocol(self, &w->channel);
}

static inline tn_wire wire_of(const writer *w)
{
    return w->channel.wire;
}

static inline bool compact_p(const writer *w)
{
    return w->channel.wire == TN_WIRE_COMPACT;
}

/* After the last user code. */
static inline void start(writer *w)
{
    w->sink = tn_channel_sink(&w->channel);
}

static void call_write(writer *w, VALUE bytes)
{
    w->last = rb_funcallv(w->channel.transport, tn_id_write, 1, &bytes);
}

static void give(writer *w, const char *bytes, long length)
{
    call_write(w, rb_str_new(bytes, length));
}

/* The stock code calls `write` here. */
static inline void piece(writer *w)
{
    if (TN_LIKELY(w->sink))
        return;
    give(w, w->bytes, w->p - w->bytes);
    w->p = w->bytes;
}

static void put_varint(writer *w, uint64_t n)
{
    char *start = w->p;
    w->p = tn_put_varint(start, n);
    if (TN_LIKELY(w->sink))
        return;
    for (char *p = start; split_varints && p + 1 < w->p; p++)
        give(w, p, 1);
    if (split_varints)
        give(w, w->p - 1, 1);
    else
        give(w, start, w->p - start);
    w->p = w->bytes;
}

static inline void put_byte(writer *w, int byte)
{
    *w->p++ = (char)byte;
    piece(w);
}

static inline void put_i32(writer *w, int32_t n)
{
    tn_put_be32(w->p, (uint32_t)n);
    w->p += 4;
    piece(w);
}

/* The payload of a string, without its length. */
static void put_payload(writer *w, VALUE payload)
{
    if (TN_UNLIKELY(!w->sink)) {
        VALUE own = rb_str_dup(payload); /* the transport may change its encoding */
        call_write(w, rb_enc_associate_index(own, tn_binary));
        return;
    }
    rb_str_cat(w->sink, w->bytes, w->p - w->bytes);
    w->p = w->bytes;
    rb_str_cat(w->sink, RSTRING_PTR(payload), RSTRING_LEN(payload));
    RB_GC_GUARD(payload);
}

/* Returns what the stock method would: BinaryProtocol, in Ruby, what the last `write` returned. */
static inline VALUE finish(writer *w)
{
    if (TN_UNLIKELY(!w->sink))
        return w->channel.wire == TN_WIRE_BINARY ? w->last : Qnil;
    if (w->p > w->bytes)
        rb_str_cat(w->sink, w->bytes, w->p - w->bytes);
    return w->channel.wire == TN_WIRE_BINARY && w->channel.transport_kind != TN_MEMORY ? w->sink : Qnil;
}

/* ---- arguments ---- */

/* BinaryProtocolAccelerated says of nil what it says of anything that is no number, unless it's a value. */
static int64_t header_number(const writer *w, VALUE value, int64_t least, int64_t most)
{
    if (TN_UNLIKELY(NIL_P(value) && wire_of(w) == TN_WIRE_ACCELERATED))
        rb_raise(rb_eTypeError, "integer argument expected");
    return tn_checked_integer(value, least, most, wire_of(w));
}

static int byte_argument(const writer *w, VALUE value)
{
    return (int)header_number(w, value, INT8_MIN, INT8_MAX);
}

static int32_t size_argument(const writer *w, VALUE value)
{
    return (int32_t)header_number(w, value, 0, INT32_MAX);
}

static int compact_type_argument(VALUE value)
{
    int ttype = FIX2INT(value), ctype = ttype > 0 ? tn_compact_type((unsigned)ttype) : -1;
    if (TN_UNLIKELY(ctype < 0)) {
        VALUE message = rb_sprintf("Unknown compact type: %d", ttype);
        tn_raise_protocol_message(TN_PROTOCOL_INVALID_DATA, message);
    }
    return ctype;
}

/* What a String that isn't simply copied is on the wire; raises as the stock code does. */
static VALUE convert(const writer *w, VALUE value, bool binary)
{
    tn_out out;
    tn_out_begin(&out, w->channel.protocol);
    if (binary)
        tn_encode_binary(&out, value, wire_of(w));
    else
        tn_encode_string(&out, value, wire_of(w));
    const char *p = out.base;
    if (!compact_p(w))
        p += 4;
    else
        while (*p++ & 0x80)
            ;
    VALUE payload = rb_str_new(p, out.p - p);
    tn_out_end(&out);
    RB_GC_GUARD(out.holder);
    RB_GC_GUARD(out.string);
    return payload;
}

static inline VALUE payload_argument(const writer *w, VALUE value, bool binary)
{
    if (TN_LIKELY(RB_TYPE_P(value, T_STRING) && RSTRING_LEN(value) <= INT32_MAX &&
                  (binary || RB_ENCODING_GET_INLINED(value) == rb_utf8_encindex())))
        return value;
    return convert(w, value, binary);
}

static VALUE name_argument(const writer *w, VALUE name)
{
    if (wire_of(w) == TN_WIRE_ACCELERATED && NIL_P(name))
        rb_raise(rb_eStandardError, "Value should be a string");
    return payload_argument(w, name, false);
}

/* ---- values ---- */

static VALUE write_number(VALUE self, VALUE value, tn_ttype type, ID stock)
{
    writer w;
    if (!begin(&w, self))
        return tn_stock(self, stock, 1, &value);
    tn_out out = {.base = w.bytes, .p = w.bytes, .end = w.bytes + ROOM};
    if (type == TN_T_DOUBLE)
        tn_encode_double(&out, value, wire_of(&w));
    else
        tn_encode_integer(&out, value, type, wire_of(&w));
    start(&w);
    if (TN_LIKELY(w.sink) || !split_varints || !compact_p(&w) || type == TN_T_DOUBLE) {
        w.p = out.p;
        piece(&w);
    } else {
        for (const char *p = w.bytes; p < out.p; p++)
            give(&w, p, 1);
    }
    return finish(&w);
}

static VALUE protocol_write_byte(VALUE self, VALUE value)
{
    return write_number(self, value, TN_T_BYTE, tn_id_stock_write_byte);
}

static VALUE protocol_write_i16(VALUE self, VALUE value)
{
    return write_number(self, value, TN_T_I16, tn_id_stock_write_i16);
}

static VALUE protocol_write_i32(VALUE self, VALUE value)
{
    return write_number(self, value, TN_T_I32, tn_id_stock_write_i32);
}

static VALUE protocol_write_i64(VALUE self, VALUE value)
{
    return write_number(self, value, TN_T_I64, tn_id_stock_write_i64);
}

static VALUE protocol_write_double(VALUE self, VALUE value)
{
    return write_number(self, value, TN_T_DOUBLE, tn_id_stock_write_double);
}

static VALUE binary_write_bool(VALUE self, VALUE value)
{
    writer w;
    if (!begin(&w, self))
        return tn_stock(self, tn_id_stock_write_bool, 1, &value);
    start(&w);
    put_byte(&w, RTEST(value));
    return finish(&w);
}

static inline void put_length(writer *w, VALUE payload)
{
    if (compact_p(w))
        put_varint(w, (uint64_t)RSTRING_LEN(payload));
    else
        put_i32(w, (int32_t)RSTRING_LEN(payload));
}

static VALUE write_bytes(VALUE self, VALUE value, bool binary, ID stock)
{
    writer w;
    if (!begin(&w, self))
        return tn_stock(self, stock, 1, &value);
    VALUE payload = payload_argument(&w, value, binary);
    start(&w);
    put_length(&w, payload);
    put_payload(&w, payload);
    return finish(&w);
}

static VALUE protocol_write_string(VALUE self, VALUE value)
{
    return write_bytes(self, value, false, tn_id_stock_write_string);
}

/* protocol.write_binary(bytes): unlike the stock method, leaves the caller's encoding alone. */
static VALUE protocol_write_binary(VALUE self, VALUE value)
{
    return write_bytes(self, value, true, tn_id_stock_write_binary);
}

static VALUE protocol_write_uuid(VALUE self, VALUE value)
{
    writer w;
    if (!begin(&w, self))
        return tn_stock(self, tn_id_stock_write_uuid, 1, &value);
    tn_out out = {.base = w.bytes, .p = w.bytes, .end = w.bytes + ROOM};
    tn_encode_uuid(&out, value, wire_of(&w));
    start(&w);
    w.p = out.p;
    piece(&w);
    return finish(&w);
}

/* ---- messages, fields and containers in binary ---- */

static bool strict_write_p(VALUE self, tn_wire wire)
{
    VALUE strict = rb_attr_get(self, tn_id_iv_strict_write);
    return wire == TN_WIRE_ACCELERATED ? strict == Qtrue : RTEST(strict);
}

static void put_version(writer *w, int type)
{
    tn_put_be32(w->p, (uint32_t)VERSION_1 << 16 | (uint32_t)type);
    if (!w->sink && split_version && wire_of(w) == TN_WIRE_BINARY) {
        give(w, w->p, 2);
        give(w, w->p + 2, 2);
        return;
    }
    w->p += 4;
    piece(w);
}

/* The type of a strict message is no value: here BinaryProtocol, too, says of nil that it's no number. */
static int message_type(const writer *w, VALUE type, bool strict)
{
    if (strict && NIL_P(type))
        rb_raise(rb_eTypeError, "integer argument expected");
    return byte_argument(w, type);
}

static VALUE binary_write_message_begin(VALUE self, VALUE name, VALUE type, VALUE seqid)
{
    writer w;
    if (!begin(&w, self)) {
        VALUE arguments[3] = {name, type, seqid};
        return tn_stock(self, tn_id_stock_write_message_begin, 3, arguments);
    }
    bool strict = strict_write_p(self, wire_of(&w));
    int code = strict ? message_type(&w, type, true) : 0;
    VALUE payload = name_argument(&w, name);
    if (!strict)
        code = message_type(&w, type, false);
    int32_t number = (int32_t)header_number(&w, seqid, INT32_MIN, INT32_MAX);
    start(&w);
    if (strict)
        put_version(&w, code);
    put_length(&w, payload);
    put_payload(&w, payload);
    if (!strict)
        put_byte(&w, code);
    put_i32(&w, number);
    return finish(&w);
}

static VALUE binary_write_field_begin(VALUE self, VALUE name, VALUE type, VALUE id)
{
    writer w;
    if (!begin(&w, self)) {
        VALUE arguments[3] = {name, type, id};
        return tn_stock(self, tn_id_stock_write_field_begin, 3, arguments);
    }
    int ttype = byte_argument(&w, type), number = (int)header_number(&w, id, INT16_MIN, INT16_MAX);
    start(&w);
    put_byte(&w, ttype);
    tn_put_be16(w.p, (uint16_t)number);
    w.p += 2;
    piece(&w);
    return finish(&w);
}

static VALUE protocol_write_field_stop(VALUE self)
{
    writer w;
    if (!begin(&w, self))
        return tn_stock(self, tn_id_stock_write_field_stop, 0, NULL);
    start(&w);
    put_byte(&w, TN_T_STOP);
    return finish(&w);
}

static VALUE binary_write_map_begin(VALUE self, VALUE key, VALUE value, VALUE size)
{
    writer w;
    if (!begin(&w, self)) {
        VALUE arguments[3] = {key, value, size};
        return tn_stock(self, tn_id_stock_write_map_begin, 3, arguments);
    }
    int ktype = byte_argument(&w, key), vtype = byte_argument(&w, value);
    int32_t count = size_argument(&w, size);
    start(&w);
    put_byte(&w, ktype);
    put_byte(&w, vtype);
    put_i32(&w, count);
    return finish(&w);
}

static VALUE binary_write_elements_begin(VALUE self, VALUE element, VALUE size, ID stock)
{
    writer w;
    if (!begin(&w, self)) {
        VALUE arguments[2] = {element, size};
        return tn_stock(self, stock, 2, arguments);
    }
    int etype = byte_argument(&w, element);
    int32_t count = size_argument(&w, size);
    start(&w);
    put_byte(&w, etype);
    put_i32(&w, count);
    return finish(&w);
}

static VALUE binary_write_list_begin(VALUE self, VALUE element, VALUE size)
{
    return binary_write_elements_begin(self, element, size, tn_id_stock_write_list_begin);
}

static VALUE binary_write_set_begin(VALUE self, VALUE element, VALUE size)
{
    return binary_write_elements_begin(self, element, size, tn_id_stock_write_set_begin);
}

/* ---- the same in compact ---- */

VALUE tn_last_field(VALUE protocol)
{
    VALUE stack = rb_attr_get(protocol, tn_id_iv_last_field);
    if (TN_UNLIKELY(!RB_TYPE_P(stack, T_ARRAY) || RARRAY_LEN(stack) == 0))
        return 0;
    return FIXNUM_P(RARRAY_AREF(stack, RARRAY_LEN(stack) - 1)) ? stack : 0;
}

int tn_last_id(VALUE last_field)
{
    return FIX2INT(RARRAY_AREF(last_field, RARRAY_LEN(last_field) - 1));
}

void tn_set_last_id(VALUE last_field, int id)
{
    rb_ary_store(last_field, RARRAY_LEN(last_field) - 1, INT2FIX(id));
}

static VALUE compact_write_message_begin(VALUE self, VALUE name, VALUE type, VALUE seqid)
{
    writer w;
    if (!begin(&w, self)) {
        VALUE arguments[3] = {name, type, seqid};
        return tn_stock(self, tn_id_stock_write_message_begin, 3, arguments);
    }
    unsigned code = (unsigned)FIX2INT(type);
    int32_t number = (int32_t)tn_checked_integer(seqid, INT32_MIN, INT32_MAX, TN_WIRE_COMPACT);
    VALUE payload = payload_argument(&w, name, false);
    start(&w);
    put_byte(&w, COMPACT_ID);
    put_byte(&w, (int)(COMPACT_VERSION | (code << 5 & 0xe0)));
    put_varint(&w, (uint32_t)number);
    put_length(&w, payload);
    put_payload(&w, payload);
    return finish(&w);
}

static void put_field_header(writer *w, VALUE stack, int ctype, int id)
{
    int delta = id - tn_last_id(stack);
    start(w);
    if (delta > 0 && delta <= 15) {
        put_byte(w, delta << 4 | ctype);
    } else {
        put_byte(w, ctype);
        put_varint(w, tn_zigzag32(id));
    }
    tn_set_last_id(stack, id);
}

static VALUE compact_write_field_begin(VALUE self, VALUE name, VALUE type, VALUE id)
{
    writer w;
    VALUE stack = begin(&w, self) ? tn_last_field(self) : 0;
    if (!stack) {
        VALUE arguments[3] = {name, type, id};
        return tn_stock(self, tn_id_stock_write_field_begin, 3, arguments);
    }
    int number = (int)tn_checked_integer(id, INT16_MIN, INT16_MAX, TN_WIRE_COMPACT);
    if (FIX2INT(type) == TN_T_BOOL) { /* written together with its value */
        rb_ivar_set(self, tn_id_iv_boolean_field, rb_assoc_new(type, INT2FIX(number)));
        return Qnil;
    }
    put_field_header(&w, stack, compact_type_argument(type), number);
    return finish(&w);
}

static bool boolean_field_p(VALUE field)
{
    return RB_TYPE_P(field, T_ARRAY) && RARRAY_LEN(field) == 2 && FIXNUM_P(RARRAY_AREF(field, 1));
}

static VALUE compact_write_bool(VALUE self, VALUE value)
{
    writer w;
    VALUE field = rb_attr_get(self, tn_id_iv_boolean_field), stack = Qnil;
    bool known = begin(&w, self);
    if (!NIL_P(field))
        known = known && boolean_field_p(field) && (stack = tn_last_field(self));
    if (!known)
        return tn_stock(self, tn_id_stock_write_bool, 1, &value);
    int ctype = RTEST(value) ? TN_C_TRUE : TN_C_FALSE;
    if (NIL_P(field)) {
        start(&w);
        put_byte(&w, ctype);
    } else {
        put_field_header(&w, stack, ctype, FIX2INT(RARRAY_AREF(field, 1)));
        rb_ivar_set(self, tn_id_iv_boolean_field, Qnil);
    }
    return finish(&w);
}

static VALUE compact_write_map_begin(VALUE self, VALUE key, VALUE value, VALUE size)
{
    writer w;
    if (!begin(&w, self)) {
        VALUE arguments[3] = {key, value, size};
        return tn_stock(self, tn_id_stock_write_map_begin, 3, arguments);
    }
    int32_t count = size_argument(&w, size);
    int types = 0;
    if (count > 0) {
        types = compact_type_argument(key) << 4;
        types |= compact_type_argument(value);
    }
    start(&w);
    if (count > 0)
        put_varint(&w, (uint64_t)count);
    put_byte(&w, types);
    return finish(&w);
}

static VALUE compact_write_elements_begin(VALUE self, VALUE element, VALUE size, ID stock)
{
    writer w;
    if (!begin(&w, self)) {
        VALUE arguments[2] = {element, size};
        return tn_stock(self, stock, 2, arguments);
    }
    int32_t count = size_argument(&w, size);
    int ctype = compact_type_argument(element);
    start(&w);
    put_byte(&w, (count <= 14 ? count : 15) << 4 | ctype);
    if (count > 14)
        put_varint(&w, (uint64_t)count);
    return finish(&w);
}

static VALUE compact_write_list_begin(VALUE self, VALUE element, VALUE size)
{
    return compact_write_elements_begin(self, element, size, tn_id_stock_write_list_begin);
}

static VALUE compact_write_set_begin(VALUE self, VALUE element, VALUE size)
{
    return compact_write_elements_begin(self, element, size, tn_id_stock_write_set_begin);
}

/* ---- the modules ---- */

static void define_values(VALUE impl, bool uuid)
{
    rb_define_method(impl, "write_byte", protocol_write_byte, 1);
    rb_define_method(impl, "write_i16", protocol_write_i16, 1);
    rb_define_method(impl, "write_i32", protocol_write_i32, 1);
    rb_define_method(impl, "write_i64", protocol_write_i64, 1);
    rb_define_method(impl, "write_double", protocol_write_double, 1);
    rb_define_method(impl, "write_string", protocol_write_string, 1);
    rb_define_method(impl, "write_binary", protocol_write_binary, 1);
    rb_define_method(impl, "write_field_stop", protocol_write_field_stop, 0);
    if (uuid)
        rb_define_method(impl, "write_uuid", protocol_write_uuid, 1);
}

static void define_binary(VALUE impl)
{
    rb_define_method(impl, "write_bool", binary_write_bool, 1);
    rb_define_method(impl, "write_message_begin", binary_write_message_begin, 3);
    rb_define_method(impl, "write_field_begin", binary_write_field_begin, 3);
    rb_define_method(impl, "write_map_begin", binary_write_map_begin, 3);
    rb_define_method(impl, "write_list_begin", binary_write_list_begin, 2);
    rb_define_method(impl, "write_set_begin", binary_write_set_begin, 2);
}

static void define_compact(VALUE impl)
{
    rb_define_method(impl, "write_bool", compact_write_bool, 1);
    rb_define_method(impl, "write_message_begin", compact_write_message_begin, 3);
    rb_define_method(impl, "write_field_begin", compact_write_field_begin, 3);
    rb_define_method(impl, "write_map_begin", compact_write_map_begin, 3);
    rb_define_method(impl, "write_list_begin", compact_write_list_begin, 2);
    rb_define_method(impl, "write_set_begin", compact_write_set_begin, 2);
}

void tn_protocol_write_init(VALUE ext)
{
    static const char *const names[] = {"BinaryProtocol", "BinaryProtocolAccelerated", "CompactProtocol"};
    VALUE base = rb_path2class("Thrift::BaseProtocol");
    bool uuid = rb_method_boundp(base, rb_intern("write_uuid"), 0);
    split_varints = !rb_const_defined(base, rb_intern("DEFAULT_MAX_STRING_SIZE"));
    split_version = !rb_const_defined(rb_path2class("Thrift::BinaryProtocol"), rb_intern("BYTE_MIN"));
    for (int i = 0; i < 3; i++) {
        VALUE impl = rb_define_module_under(ext, names[i]);
        define_values(impl, uuid);
        if (i < 2)
            define_binary(impl);
        else
            define_compact(impl);
    }
}
