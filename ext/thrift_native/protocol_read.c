/* SPDX-License-Identifier: Apache-2.0
 * The read methods, and skip. */
#include "decode.h"
#include "encode.h"
#include "protocol.h"
#include "stock.h"
#include "wire.h"

#include <string.h>

enum { VERSION_1 = 0x8001, COMPACT_ID = -126, COMPACT_VERSION = 1, SKIP_DEPTH = 64 };

static VALUE bytes_module;

/* Where one method reads from: the transport's own buffer, or the transport's methods as the stock code calls them. */
typedef struct {
    tn_in in;
    VALUE self;
    bool direct;
} reader;

/* False: use the stock method. */
static inline bool begin(reader *r, VALUE self)
{
    r->self = self;
    if (!tn_channel_of_protocol(self, &r->in.channel))
        return false;
    r->direct = tn_in_open(&r->in);
    if (TN_UNLIKELY(!r->direct))
        r->in.left = true; /* nothing to tell the transport */
    return true;
}

static inline bool compact_p(const reader *r)
{
    return r->in.channel.wire == TN_WIRE_COMPACT;
}

static inline VALUE transport_of(const reader *r)
{
    return r->in.channel.transport;
}

/* What was read is used up, also if it is refused then. */
static inline void finish(reader *r)
{
    if (TN_LIKELY(r->direct))
        tn_in_commit(&r->in);
}

NORETURN(static void refuse(reader *r, int type, const char *message));
static void refuse(reader *r, int type, const char *message)
{
    finish(r);
    tn_raise_protocol(type, message);
}

/* ---- bytes ---- */

static inline int get_byte(reader *r)
{
    if (TN_UNLIKELY(!r->direct))
        return (int8_t)FIX2INT(rb_funcallv(transport_of(r), tn_id_read_byte, 0, NULL));
    tn_in_need(&r->in, 1);
    return (int8_t)*r->in.p++;
}

static void fetch(reader *r, int size, char *bytes)
{
    VALUE buffer = rb_attr_get(r->self, tn_id_iv_rbuf), arguments[2] = {buffer, INT2FIX(size)};
    rb_funcallv(transport_of(r), tn_id_read_into_buffer, 2, arguments);
    StringValue(buffer);
    if (RSTRING_LEN(buffer) < size)
        rb_raise(rb_eArgError, "the protocol's @rbuf is too short");
    memcpy(bytes, RSTRING_PTR(buffer), (size_t)size);
    RB_GC_GUARD(buffer);
}

static inline void get_fixed(reader *r, int size, char *bytes)
{
    if (TN_UNLIKELY(!r->direct)) {
        fetch(r, size, bytes);
        return;
    }
    tn_in_need(&r->in, size);
    memcpy(bytes, r->in.p, (size_t)size);
    r->in.p += size;
}

static inline int16_t get_be16(reader *r)
{
    char bytes[2];
    get_fixed(r, 2, bytes);
    return (int16_t)tn_get_be16(bytes);
}

static inline int32_t get_be32(reader *r)
{
    char bytes[4];
    get_fixed(r, 4, bytes);
    return (int32_t)tn_get_be32(bytes);
}

static inline uint64_t get_bits(reader *r)
{
    char bytes[8];
    get_fixed(r, 8, bytes);
    return compact_p(r) ? tn_get_le64(bytes) : tn_get_be64(bytes);
}

static uint64_t get_long_varint(reader *r, int most, uint64_t first)
{
    uint64_t result = first & 0x7f;
    for (int i = 1; i < most; i++) {
        int byte = get_byte(r) & 0xff;
        if (most == TN_VARINT32_MAX && i == most - 1) {
            if (byte & 0x80)
                break;
            if (byte & ~0x0f)
                refuse(r, TN_PROTOCOL_INVALID_DATA, "Variable-length int overflows uint32.");
        }
        result |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (!(byte & 0x80))
            return result;
    }
    refuse(r, TN_PROTOCOL_INVALID_DATA,
           most == TN_VARINT32_MAX ? "Variable-length int over 5 bytes." : "Variable-length int over 10 bytes.");
}

static inline uint64_t get_varint(reader *r, int most)
{
    int first = get_byte(r) & 0xff;
    return TN_LIKELY(first < 0x80) ? (uint64_t)first : get_long_varint(r, most, (uint64_t)first);
}

static inline uint32_t get_varint32(reader *r)
{
    return (uint32_t)get_varint(r, TN_VARINT32_MAX);
}

static inline int16_t get_i16(reader *r)
{
    return compact_p(r) ? (int16_t)tn_unzigzag32(get_varint32(r)) : get_be16(r);
}

static inline int32_t get_i32(reader *r)
{
    return compact_p(r) ? tn_unzigzag32(get_varint32(r)) : get_be32(r);
}

/* ---- strings ---- */

static void check_string_size(reader *r, int64_t size)
{
    r->in.max_string_size = tn_max_string_size(r->self, r->in.channel.wire);
    if (TN_LIKELY(size >= 0 && size <= INT32_MAX && size <= r->in.max_string_size))
        return;
    tn_decode_checked_string_size(&r->in, size);
}

/* The next bytes of a size that was checked. From any transport: the very String that it gives. */
static VALUE get_bytes(reader *r, long size, bool text)
{
    if (TN_UNLIKELY(!r->direct)) {
        VALUE argument = LONG2FIX(size), bytes = rb_funcallv(transport_of(r), tn_id_read_all, 1, &argument);
        return text ? rb_funcall(bytes_module, rb_intern("convert_to_string"), 1, bytes) : bytes;
    }
    tn_in_need(&r->in, size);
    VALUE string = text ? rb_utf8_str_new(r->in.p, size) : rb_str_new(r->in.p, size);
    r->in.p += size;
    return string;
}

static VALUE get_string(reader *r, bool text)
{
    int64_t size = compact_p(r) ? (int64_t)get_varint32(r) : get_be32(r);
    check_string_size(r, size);
    return get_bytes(r, (long)size, text);
}

/* ---- values ---- */

static VALUE protocol_read_byte(VALUE self)
{
    reader r;
    if (!begin(&r, self))
        return tn_stock(self, tn_id_stock_read_byte, 0, NULL);
    int byte = get_byte(&r);
    finish(&r);
    return INT2FIX(byte);
}

static VALUE protocol_read_i16(VALUE self)
{
    reader r;
    if (!begin(&r, self))
        return tn_stock(self, tn_id_stock_read_i16, 0, NULL);
    int16_t n = get_i16(&r);
    finish(&r);
    return INT2FIX(n);
}

static VALUE protocol_read_i32(VALUE self)
{
    reader r;
    if (!begin(&r, self))
        return tn_stock(self, tn_id_stock_read_i32, 0, NULL);
    int32_t n = get_i32(&r);
    finish(&r);
    return INT2NUM(n);
}

static VALUE protocol_read_i64(VALUE self)
{
    reader r;
    if (!begin(&r, self))
        return tn_stock(self, tn_id_stock_read_i64, 0, NULL);
    int64_t n = compact_p(&r) ? tn_unzigzag64(get_varint(&r, TN_VARINT64_MAX)) : (int64_t)get_bits(&r);
    finish(&r);
    return LL2NUM(n);
}

static VALUE protocol_read_double(VALUE self)
{
    reader r;
    if (!begin(&r, self))
        return tn_stock(self, tn_id_stock_read_double, 0, NULL);
    double number = tn_double_of_bits(get_bits(&r));
    finish(&r);
    return rb_float_new(number);
}

static VALUE binary_read_bool(VALUE self)
{
    reader r;
    if (!begin(&r, self))
        return tn_stock(self, tn_id_stock_read_bool, 0, NULL);
    int byte = get_byte(&r);
    finish(&r);
    return byte ? Qtrue : Qfalse;
}

/* The value of a bool field came with its header. */
static VALUE compact_read_bool(VALUE self)
{
    reader r;
    if (!begin(&r, self))
        return tn_stock(self, tn_id_stock_read_bool, 0, NULL);
    VALUE known = rb_attr_get(self, tn_id_iv_bool_value);
    if (!NIL_P(known)) {
        rb_ivar_set(self, tn_id_iv_bool_value, Qnil);
        return known;
    }
    int byte = get_byte(&r);
    finish(&r);
    return byte == TN_C_TRUE ? Qtrue : Qfalse;
}

static VALUE protocol_read_string(VALUE self)
{
    reader r;
    if (!begin(&r, self))
        return tn_stock(self, tn_id_stock_read_string, 0, NULL);
    VALUE string = get_string(&r, true);
    finish(&r);
    return string;
}

static VALUE protocol_read_binary(VALUE self)
{
    reader r;
    if (!begin(&r, self))
        return tn_stock(self, tn_id_stock_read_binary, 0, NULL);
    VALUE string = get_string(&r, false);
    finish(&r);
    return string;
}

static VALUE uuid_of(const reader *r, VALUE bytes)
{
    StringValue(bytes);
    if (RSTRING_LEN(bytes) != 16)
        tn_raise_protocol(TN_PROTOCOL_INVALID_DATA, "Invalid UUID data length");
    tn_in in = r->in;
    in.p = RSTRING_PTR(bytes);
    in.end = in.p + 16;
    VALUE uuid = tn_decode_uuid(&in);
    RB_GC_GUARD(bytes);
    return uuid;
}

static VALUE protocol_read_uuid(VALUE self)
{
    reader r;
    if (!begin(&r, self))
        return tn_stock(self, tn_id_stock_read_uuid, 0, NULL);
    VALUE uuid = r.direct ? tn_decode_uuid(&r.in) : uuid_of(&r, get_bytes(&r, 16, false));
    finish(&r);
    return uuid;
}

/* ---- messages, fields and containers in binary ---- */

/* A transport that counts the bytes of a message is told that one begins (0.25). */
static void reset_message_size(VALUE self)
{
    if (RTEST(rb_attr_get(self, tn_id_iv_reset_message_size)))
        rb_funcall(rb_attr_get(self, tn_id_iv_trans), rb_intern("reset_message_size"), 0);
}

static bool strict_read_p(VALUE self, tn_wire wire)
{
    VALUE strict = rb_attr_get(self, tn_id_iv_strict_read);
    return wire == TN_WIRE_ACCELERATED ? strict == Qtrue : RTEST(strict);
}

/* With a version first. */
static VALUE get_message(reader *r, int32_t version)
{
    if (((uint32_t)version >> 16) != VERSION_1)
        refuse(r, TN_PROTOCOL_BAD_VERSION, "Missing version identifier");
    VALUE name = get_string(r, true);
    VALUE seqid = INT2NUM(get_be32(r));
    finish(r);
    return rb_ary_new_from_args(3, name, INT2FIX(version & 0xff), seqid);
}

/* Without one: the length of the name comes first. */
static VALUE get_old_message(reader *r, int32_t size)
{
    if (strict_read_p(r->self, r->in.channel.wire))
        refuse(r, TN_PROTOCOL_BAD_VERSION, "No version identifier, old protocol client?");
    check_string_size(r, size);
    VALUE name = get_bytes(r, size, false);
    int type = get_byte(r);
    VALUE seqid = INT2NUM(get_be32(r));
    finish(r);
    return rb_ary_new_from_args(3, name, INT2FIX(type), seqid);
}

static VALUE binary_read_message_begin(VALUE self)
{
    reader r;
    tn_channel channel;
    if (!tn_channel_of_protocol(self, &channel))
        return tn_stock(self, tn_id_stock_read_message_begin, 0, NULL);
    reset_message_size(self);
    if (!begin(&r, self))
        return tn_stock(self, tn_id_stock_read_message_begin, 0, NULL);
    int32_t version = get_be32(&r);
    return version < 0 ? get_message(&r, version) : get_old_message(&r, version);
}

static VALUE binary_read_field_begin(VALUE self)
{
    reader r;
    if (!begin(&r, self))
        return tn_stock(self, tn_id_stock_read_field_begin, 0, NULL);
    int ttype = get_byte(&r), id = ttype == TN_T_STOP ? 0 : get_be16(&r);
    finish(&r);
    return rb_ary_new_from_args(3, Qnil, INT2FIX(ttype), INT2FIX(id));
}

static int32_t get_size(reader *r)
{
    int32_t size = get_be32(r);
    finish(r);
    if (TN_UNLIKELY(size < 0))
        tn_raise_protocol(TN_PROTOCOL_NEGATIVE_SIZE, "Negative size");
    return size;
}

static VALUE binary_read_map_begin(VALUE self)
{
    reader r;
    if (!begin(&r, self))
        return tn_stock(self, tn_id_stock_read_map_begin, 0, NULL);
    int key = get_byte(&r), value = get_byte(&r);
    return rb_ary_new_from_args(3, INT2FIX(key), INT2FIX(value), INT2NUM(get_size(&r)));
}

static VALUE binary_read_elements_begin(VALUE self, ID stock)
{
    reader r;
    if (!begin(&r, self))
        return tn_stock(self, stock, 0, NULL);
    int element = get_byte(&r);
    return rb_assoc_new(INT2FIX(element), INT2NUM(get_size(&r)));
}

static VALUE binary_read_list_begin(VALUE self)
{
    return binary_read_elements_begin(self, tn_id_stock_read_list_begin);
}

static VALUE binary_read_set_begin(VALUE self)
{
    return binary_read_elements_begin(self, tn_id_stock_read_set_begin);
}

/* ---- the same in compact ---- */

static int checked_type(reader *r, int ctype)
{
    int ttype = tn_type_of_compact((unsigned)ctype);
    if (TN_UNLIKELY(ttype < 0))
        tn_raise_compact_type(&r->in, ctype);
    return ttype;
}

NORETURN(static void refuse_version(reader *r, const char *what, int expected, int got));
static void refuse_version(reader *r, const char *what, int expected, int got)
{
    finish(r);
    VALUE message = rb_sprintf("Expected %s %d but got %d", what, expected, got);
    tn_raise_protocol_message(TN_PROTOCOL_BAD_VERSION, message);
}

static VALUE compact_read_message_begin(VALUE self)
{
    reader r;
    tn_channel channel;
    if (!tn_channel_of_protocol(self, &channel))
        return tn_stock(self, tn_id_stock_read_message_begin, 0, NULL);
    reset_message_size(self);
    if (!begin(&r, self))
        return tn_stock(self, tn_id_stock_read_message_begin, 0, NULL);
    int id = get_byte(&r);
    if (id != COMPACT_ID)
        refuse_version(&r, "protocol id", COMPACT_ID, id);
    int byte = get_byte(&r), version = byte & 0x1f;
    if (version != COMPACT_VERSION)
        refuse_version(&r, "version", COMPACT_VERSION, version);
    int32_t seqid = (int32_t)get_varint32(&r);
    VALUE name = get_string(&r, true);
    finish(&r);
    return rb_ary_new_from_args(3, name, INT2FIX(byte >> 5 & 7), INT2NUM(seqid));
}

static VALUE compact_read_field_begin(VALUE self)
{
    reader r;
    VALUE stack = begin(&r, self) ? tn_last_field(self) : 0;
    if (!stack)
        return tn_stock(self, tn_id_stock_read_field_begin, 0, NULL);
    int byte = get_byte(&r), ctype = byte & 0x0f, delta = byte >> 4 & 0x0f;
    if (ctype == TN_C_STOP) {
        finish(&r);
        return rb_ary_new_from_args(3, Qnil, INT2FIX(TN_T_STOP), INT2FIX(0));
    }
    int id = delta ? tn_last_id(stack) + delta : get_i16(&r);
    finish(&r);
    if (ctype == TN_C_TRUE || ctype == TN_C_FALSE)
        rb_ivar_set(self, tn_id_iv_bool_value, ctype == TN_C_TRUE ? Qtrue : Qfalse);
    tn_set_last_id(stack, id);
    return rb_ary_new_from_args(3, Qnil, INT2FIX(checked_type(&r, ctype)), INT2FIX(id));
}

static uint32_t get_container_size(reader *r)
{
    uint32_t size = get_varint32(r);
    if (TN_UNLIKELY(size > INT32_MAX))
        refuse(r, TN_PROTOCOL_SIZE_LIMIT, "Container size limit exceeded");
    return size;
}

static VALUE compact_read_map_begin(VALUE self)
{
    reader r;
    if (!begin(&r, self))
        return tn_stock(self, tn_id_stock_read_map_begin, 0, NULL);
    uint32_t size = get_container_size(&r);
    int types = size ? get_byte(&r) & 0xff : 0;
    finish(&r);
    int value = checked_type(&r, types & 0x0f); /* of two unknown types, the stock code reports this one */
    int key = checked_type(&r, types >> 4);
    return rb_ary_new_from_args(3, INT2FIX(key), INT2FIX(value), UINT2NUM(size));
}

static VALUE compact_read_elements_begin(VALUE self, ID stock)
{
    reader r;
    if (!begin(&r, self))
        return tn_stock(self, stock, 0, NULL);
    int byte = get_byte(&r) & 0xff;
    uint32_t size = (uint32_t)byte >> 4;
    if (size == 15)
        size = get_container_size(&r);
    finish(&r);
    return rb_assoc_new(INT2FIX(checked_type(&r, byte & 0x0f)), UINT2NUM(size));
}

static VALUE compact_read_list_begin(VALUE self)
{
    return compact_read_elements_begin(self, tn_id_stock_read_list_begin);
}

static VALUE compact_read_set_begin(VALUE self)
{
    return compact_read_elements_begin(self, tn_id_stock_read_set_begin);
}

/* ---- skip ---- */

static bool container_p(int ttype)
{
    return ttype == TN_T_STRUCT || ttype == TN_T_MAP || ttype == TN_T_SET || ttype == TN_T_LIST;
}

/* protocol.skip(type, max_depth = 64): of a struct, list, set or map; the rest is for the methods. */
static VALUE protocol_skip(int argc, VALUE *argv, VALUE self)
{
    reader r;
    rb_check_arity(argc, 1, 2);
    if (!FIXNUM_P(argv[0]) || !container_p((int)FIX2LONG(argv[0])) || (argc == 2 && !FIXNUM_P(argv[1])) ||
        !begin(&r, self) || !r.direct)
        return tn_stock_or_super(self, tn_id_stock_skip, argc, argv);
    r.in.max_string_size = tn_max_string_size(self, r.in.channel.wire);
    tn_decode_skip(&r.in, FIX2INT(argv[0]), argc == 2 ? FIX2INT(argv[1]) : SKIP_DEPTH);
    finish(&r);
    return Qnil;
}

/* ---- the modules ---- */

static void define_values(VALUE impl, bool uuid)
{
    rb_define_method(impl, "read_byte", protocol_read_byte, 0);
    rb_define_method(impl, "read_i16", protocol_read_i16, 0);
    rb_define_method(impl, "read_i32", protocol_read_i32, 0);
    rb_define_method(impl, "read_i64", protocol_read_i64, 0);
    rb_define_method(impl, "read_double", protocol_read_double, 0);
    rb_define_method(impl, "read_string", protocol_read_string, 0);
    rb_define_method(impl, "read_binary", protocol_read_binary, 0);
    if (uuid)
        rb_define_method(impl, "read_uuid", protocol_read_uuid, 0);
}

static void define_binary(VALUE impl)
{
    rb_define_method(impl, "read_bool", binary_read_bool, 0);
    rb_define_method(impl, "read_message_begin", binary_read_message_begin, 0);
    rb_define_method(impl, "read_field_begin", binary_read_field_begin, 0);
    rb_define_method(impl, "read_map_begin", binary_read_map_begin, 0);
    rb_define_method(impl, "read_list_begin", binary_read_list_begin, 0);
    rb_define_method(impl, "read_set_begin", binary_read_set_begin, 0);
}

static void define_compact(VALUE impl)
{
    rb_define_method(impl, "read_bool", compact_read_bool, 0);
    rb_define_method(impl, "read_message_begin", compact_read_message_begin, 0);
    rb_define_method(impl, "read_field_begin", compact_read_field_begin, 0);
    rb_define_method(impl, "read_map_begin", compact_read_map_begin, 0);
    rb_define_method(impl, "read_list_begin", compact_read_list_begin, 0);
    rb_define_method(impl, "read_set_begin", compact_read_set_begin, 0);
}

void tn_protocol_read_init(VALUE ext)
{
    static const char *const names[] = {"BinaryProtocol", "BinaryProtocolAccelerated", "CompactProtocol"};
    VALUE base = rb_path2class("Thrift::BaseProtocol");
    bool uuid = rb_method_boundp(base, rb_intern("read_uuid"), 0);
    bytes_module = rb_path2class("Thrift::Bytes");
    rb_gc_register_mark_object(bytes_module);
    for (int i = 0; i < 3; i++) {
        VALUE impl = rb_define_module_under(ext, names[i]);
        define_values(impl, uuid);
        if (i < 2)
            define_binary(impl);
        else
            define_compact(impl);
        if (i != 1) /* BinaryProtocolAccelerated inherits it */
            rb_define_method(impl, "skip", protocol_skip, -1);
    }
}
