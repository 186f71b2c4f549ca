/* SPDX-License-Identifier: Apache-2.0
 * Reading order: get_fields, get_value, then the containers. Functions with a `compact` argument are inlined into two
 * callers each, with it constant. Nothing is allocated from a length on the wire before as many bytes are at hand. */
#include "decode.h"
#include "encode.h"
#include "keys.h"
#include "sets.h"
#include "stock.h"
#include "text.h"
#include "validate.h"

#include <limits.h>
#include <string.h>

#define INLINED static inline __attribute__((always_inline))

enum { CHUNK = 128, FIRST_CAPACITY = 1024, SKIP_DEPTH = 64 };

static VALUE union_class, struct_module;
static bool resets_fields; /* the installed thrift empties a struct before it reads into it (0.25) */
static bool takes_depth;   /* its read has a second argument (0.25) */
/* A uuid that BinaryProtocol, in Ruby, makes is UTF-8, and frozen up to Ruby 2.7, as interpolated literals are there.
 */
static bool frozen_uuid;

/* What was read up to here is gone, as with the stock code. */
NORETURN(static void fail_with(tn_in *in, int type, VALUE message));
static void fail_with(tn_in *in, int type, VALUE message)
{
    tn_in_commit(in);
    tn_raise_protocol_message(type, message);
}

NORETURN(static void fail(tn_in *in, int type, const char *message));
static void fail(tn_in *in, int type, const char *message)
{
    fail_with(in, type, rb_str_new_cstr(message));
}

/* ---- numbers ---- */

static uint64_t varint_slow(tn_in *in, int limit)
{
    uint64_t result = 0;
    for (int i = 0; i < limit; i++) {
        tn_in_need(in, 1);
        uint8_t byte = (uint8_t)*in->p++;
        if (limit == TN_VARINT32_MAX && i == limit - 1) {
            if (byte & 0x80)
                fail(in, TN_PROTOCOL_INVALID_DATA, "Variable-length int over 5 bytes.");
            if (byte & ~0x0f)
                fail(in, TN_PROTOCOL_INVALID_DATA, "Variable-length int overflows uint32.");
        }
        result |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (!(byte & 0x80))
            return result;
    }
    fail(in, TN_PROTOCOL_INVALID_DATA, "Variable-length int over 10 bytes.");
}

/* Up to four of the bytes at hand: those can't hold too much. */
INLINED uint64_t varint_at_hand(tn_in *in, int limit)
{
    const uint8_t *p = (const uint8_t *)in->p;
    uint64_t result = p[0] & 0x7f;
    for (int i = 1; i < TN_VARINT32_MAX - 1; i++) {
        result |= (uint64_t)(p[i] & 0x7f) << (7 * i);
        if (!(p[i] & 0x80)) {
            in->p += i + 1;
            return result;
        }
    }
    return varint_slow(in, limit);
}

INLINED uint64_t get_varint(tn_in *in, const int limit)
{
    if (TN_LIKELY(in->p < in->end && !(*in->p & 0x80)))
        return (uint8_t)*in->p++;
    if (TN_LIKELY(tn_in_at_hand(in) >= TN_VARINT32_MAX))
        return varint_at_hand(in, limit);
    return varint_slow(in, limit);
}

uint32_t tn_decode_varint32(tn_in *in)
{
    return (uint32_t)get_varint(in, TN_VARINT32_MAX);
}

uint64_t tn_decode_varint64(tn_in *in)
{
    return get_varint(in, TN_VARINT64_MAX);
}

INLINED int get_byte(tn_in *in)
{
    tn_in_need(in, 1);
    return (int8_t)*in->p++;
}

INLINED int16_t get_i16(tn_in *in, const bool compact)
{
    if (compact)
        return (int16_t)tn_unzigzag32((uint32_t)get_varint(in, TN_VARINT32_MAX));
    tn_in_need(in, 2);
    int16_t n = (int16_t)tn_get_be16(in->p);
    in->p += 2;
    return n;
}

INLINED int32_t get_i32(tn_in *in, const bool compact)
{
    if (compact)
        return tn_unzigzag32((uint32_t)get_varint(in, TN_VARINT32_MAX));
    tn_in_need(in, 4);
    int32_t n = (int32_t)tn_get_be32(in->p);
    in->p += 4;
    return n;
}

INLINED int64_t get_i64(tn_in *in, const bool compact)
{
    if (compact)
        return tn_unzigzag64(get_varint(in, TN_VARINT64_MAX));
    tn_in_need(in, 8);
    int64_t n = (int64_t)tn_get_be64(in->p);
    in->p += 8;
    return n;
}

INLINED double get_double(tn_in *in, const bool compact)
{
    tn_in_need(in, 8);
    uint64_t bits = compact ? tn_get_le64(in->p) : tn_get_be64(in->p);
    in->p += 8;
    return tn_double_of_bits(bits);
}

/* ---- strings ---- */

NORETURN(static void refuse_string_size(tn_in *in, int64_t size));
static void refuse_string_size(tn_in *in, int64_t size)
{
    if (size < 0)
        fail(in, TN_PROTOCOL_NEGATIVE_SIZE, "Negative size");
    if (size > INT32_MAX)
        fail(in, TN_PROTOCOL_SIZE_LIMIT, "Binary size limit exceeded");
    VALUE message = rb_sprintf("String size %ld larger than the maximum %ld%s", (long)size, in->max_string_size,
                               resets_fields ? "" : " (max_string_size)");
    fail_with(in, TN_PROTOCOL_SIZE_LIMIT, message);
}

INLINED long checked_string_size(tn_in *in, int64_t size)
{
    if (TN_UNLIKELY(size < 0 || size > INT32_MAX || size > in->max_string_size))
        refuse_string_size(in, size);
    return (long)size;
}

long tn_decode_checked_string_size(tn_in *in, int64_t size)
{
    return checked_string_size(in, size);
}

INLINED long get_string_size(tn_in *in, const bool compact)
{
    return checked_string_size(in, compact ? (int64_t)(uint32_t)get_varint(in, TN_VARINT32_MAX) : get_i32(in, false));
}

long tn_decode_string_size(tn_in *in)
{
    return in->compact ? get_string_size(in, true) : get_string_size(in, false);
}

INLINED VALUE get_text(tn_in *in, const bool compact)
{
    long size = get_string_size(in, compact);
    tn_in_need(in, size);
    VALUE string = tn_utf8_string(in->p, size);
    in->p += size;
    return string;
}

/* A large one is cut out of a memory buffer, which nobody writes to from C. */
static VALUE large_binary(tn_in *in, long size)
{
    long offset = in->p - in->base;
    VALUE part = 0;
    if (in->channel.transport_kind == TN_MEMORY && in->end - in->p > size && tn_binary_p(in->bytes))
        part = tn_shared_part(in->bytes, offset, size);
    in->base = RSTRING_PTR(in->bytes);
    in->end = in->base + in->length;
    in->p = in->base + offset;
    return part ? part : rb_str_new(in->p, size);
}

INLINED VALUE get_binary(tn_in *in, const bool compact)
{
    enum { LARGE = 1 << 16 };
    long size = get_string_size(in, compact);
    tn_in_need(in, size);
    VALUE string = TN_UNLIKELY(size >= LARGE) ? large_binary(in, size) : rb_str_new(in->p, size);
    in->p += size;
    return string;
}

VALUE tn_decode_text(tn_in *in)
{
    return in->compact ? get_text(in, true) : get_text(in, false);
}

VALUE tn_decode_binary(tn_in *in)
{
    return in->compact ? get_binary(in, true) : get_binary(in, false);
}

VALUE tn_decode_uuid(tn_in *in)
{
    static const char digits[] = "0123456789abcdef";
    char text[36], *t = text;
    tn_in_need(in, 16);
    for (int i = 0; i < 16; i++) {
        uint8_t byte = (uint8_t)in->p[i];
        *t++ = digits[byte >> 4];
        *t++ = digits[byte & 15];
        if (i == 3 || i == 5 || i == 7 || i == 9)
            *t++ = '-';
    }
    in->p += 16;
    if (in->channel.wire != TN_WIRE_BINARY)
        return rb_str_new(text, 36);
    VALUE uuid = rb_utf8_str_new(text, 36);
    return frozen_uuid ? rb_obj_freeze(uuid) : uuid;
}

/* A frozen string, as Hash keys and Set members are. */
INLINED VALUE get_key_string(tn_in *in, bool binary, const bool compact)
{
    long size = get_string_size(in, compact);
    tn_in_need(in, size);
    VALUE key = tn_key_string(in->p, size, binary);
    in->p += size;
    return key;
}

/* ---- skipping ---- */

void tn_raise_compact_type(tn_in *in, int ctype)
{
    fail_with(in, TN_PROTOCOL_INVALID_DATA, rb_sprintf("Unknown compact type: %d", ctype));
}

static int type_of_compact(tn_in *in, int ctype)
{
    int ttype = tn_type_of_compact((unsigned)ctype);
    if (TN_UNLIKELY(ttype < 0))
        tn_raise_compact_type(in, ctype);
    return ttype;
}

typedef struct {
    int ttype;
    int id;
    int inline_bool; /* compact: 1 true, 0 false, -1 none */
} field_header;

INLINED field_header get_field_header(tn_in *in, int *last_id, const bool compact)
{
    field_header header = {TN_T_STOP, 0, -1};
    int byte = get_byte(in);
    if (!compact) {
        header.ttype = byte;
        if (byte != TN_T_STOP)
            header.id = get_i16(in, false);
        return header;
    }
    int ctype = byte & 0x0f, delta = (byte & 0xf0) >> 4;
    if (ctype == TN_C_STOP)
        return header;
    header.id = delta ? *last_id + delta : get_i16(in, true);
    *last_id = header.id;
    header.ttype = type_of_compact(in, ctype);
    if (header.ttype == TN_T_BOOL)
        header.inline_bool = ctype == TN_C_TRUE;
    return header;
}

typedef struct {
    int ttype;
    long size;
} list_header;

INLINED long checked_container_size(tn_in *in, int64_t size)
{
    if (TN_UNLIKELY(size < 0))
        fail(in, TN_PROTOCOL_NEGATIVE_SIZE, "Negative size");
    if (TN_UNLIKELY(size > INT32_MAX))
        fail(in, TN_PROTOCOL_SIZE_LIMIT, "Container size limit exceeded");
    return (long)size;
}

INLINED list_header get_list_header(tn_in *in, const bool compact)
{
    list_header header;
    int byte = get_byte(in);
    if (!compact) {
        header.ttype = byte;
        header.size = checked_container_size(in, get_i32(in, false));
        return header;
    }
    header.size = (byte >> 4) & 0x0f;
    if (header.size == 15)
        header.size = checked_container_size(in, (uint32_t)get_varint(in, TN_VARINT32_MAX));
    header.ttype = type_of_compact(in, byte & 0x0f);
    return header;
}

typedef struct {
    int key;
    int value;
    long size;
} map_header;

INLINED map_header get_map_header(tn_in *in, const bool compact)
{
    map_header header = {TN_T_STOP, TN_T_STOP, 0};
    if (!compact) {
        header.key = get_byte(in);
        header.value = get_byte(in);
        header.size = checked_container_size(in, get_i32(in, false));
        return header;
    }
    header.size = checked_container_size(in, (uint32_t)get_varint(in, TN_VARINT32_MAX));
    int types = header.size ? get_byte(in) : 0;
    header.value = type_of_compact(in, types & 0x0f); /* of two unknown types, the stock code reports this one */
    header.key = type_of_compact(in, (types >> 4) & 0x0f);
    return header;
}

static void skip_bytes(tn_in *in, long count)
{
    tn_in_need(in, count);
    in->p += count;
}

static void skip_in_binary(tn_in *in, int ttype, int depth);
static void skip_in_compact(tn_in *in, int ttype, int depth);

INLINED void skip_inner(tn_in *in, int ttype, int depth, const bool compact)
{
    if (compact)
        skip_in_compact(in, ttype, depth);
    else
        skip_in_binary(in, ttype, depth);
}

INLINED void skip_struct(tn_in *in, int depth, const bool compact)
{
    int last_id = 0;
    for (;;) {
        field_header header = get_field_header(in, &last_id, compact);
        if (header.ttype == TN_T_STOP)
            return;
        if (header.inline_bool >= 0) {
            if (depth - 1 <= 0)
                fail(in, TN_PROTOCOL_DEPTH_LIMIT, "Maximum skip depth exceeded");
            continue;
        }
        skip_inner(in, header.ttype, depth - 1, compact);
    }
}

INLINED void skip_value(tn_in *in, int ttype, int depth, const bool compact)
{
    static const uint8_t sizes[TN_T_COUNT] = {[TN_T_BOOL] = 1, [TN_T_BYTE] = 1, [TN_T_DOUBLE] = 8, [TN_T_I16] = 2,
                                              [TN_T_I32] = 4,  [TN_T_I64] = 8,  [TN_T_UUID] = 16};
    if (TN_UNLIKELY(depth <= 0))
        fail(in, TN_PROTOCOL_DEPTH_LIMIT, "Maximum skip depth exceeded");
    switch (ttype) {
    case TN_T_I16:
    case TN_T_I32:
        if (compact) {
            get_varint(in, TN_VARINT32_MAX);
            return;
        }
        break;
    case TN_T_I64:
        if (compact) {
            get_varint(in, TN_VARINT64_MAX);
            return;
        }
        break;
    case TN_T_STRING:
        skip_bytes(in, get_string_size(in, compact));
        return;
    case TN_T_STRUCT:
        skip_struct(in, depth, compact);
        return;
    case TN_T_MAP: {
        map_header header = get_map_header(in, compact);
        for (long i = 0; i < header.size; i++) {
            skip_inner(in, header.key, depth - 1, compact);
            skip_inner(in, header.value, depth - 1, compact);
        }
        return;
    }
    case TN_T_SET:
    case TN_T_LIST: {
        list_header header = get_list_header(in, compact);
        for (long i = 0; i < header.size; i++)
            skip_inner(in, header.ttype, depth - 1, compact);
        return;
    }
    }
    if (ttype < 0 || ttype >= TN_T_COUNT || !sizes[ttype])
        fail(in, TN_PROTOCOL_INVALID_DATA, "Invalid data");
    skip_bytes(in, sizes[ttype]);
}

static void skip_in_binary(tn_in *in, int ttype, int depth)
{
    skip_value(in, ttype, depth, false);
}

static void skip_in_compact(tn_in *in, int ttype, int depth)
{
    skip_value(in, ttype, depth, true);
}

void tn_decode_skip(tn_in *in, int ttype, int depth)
{
    skip_inner(in, ttype, depth, in->compact);
}

/* ---- containers ---- */

static VALUE get_struct(tn_in *in, tn_type *type, int depth);
static VALUE get_list_in_binary(tn_in *in, tn_type *type, int depth);
static VALUE get_list_in_compact(tn_in *in, tn_type *type, int depth);
static VALUE get_set_in_binary(tn_in *in, tn_type *type, int depth);
static VALUE get_set_in_compact(tn_in *in, tn_type *type, int depth);
static VALUE get_map_in_binary(tn_in *in, tn_type *type, int depth);
static VALUE get_map_in_compact(tn_in *in, tn_type *type, int depth);

INLINED VALUE get_value(tn_in *in, tn_type *type, int depth, const bool compact)
{
    switch (type->ttype) {
    case TN_T_BOOL: {
        int byte = get_byte(in);
        return (compact ? byte == TN_C_TRUE : byte != 0) ? Qtrue : Qfalse;
    }
    case TN_T_BYTE:
        return INT2FIX(get_byte(in));
    case TN_T_I16:
        return INT2FIX(get_i16(in, compact));
    case TN_T_I32:
        return INT2NUM(get_i32(in, compact));
    case TN_T_I64:
        return LL2NUM(get_i64(in, compact));
    case TN_T_DOUBLE:
        return rb_float_new(get_double(in, compact));
    case TN_T_STRING:
        return type->binary ? get_binary(in, compact) : get_text(in, compact);
    case TN_T_UUID:
        return tn_decode_uuid(in);
    case TN_T_STRUCT:
        return get_struct(in, type, depth - 1);
    case TN_T_LIST:
        return compact ? get_list_in_compact(in, type, depth) : get_list_in_binary(in, type, depth);
    case TN_T_SET:
        return compact ? get_set_in_compact(in, type, depth) : get_set_in_binary(in, type, depth);
    default:
        return compact ? get_map_in_compact(in, type, depth) : get_map_in_binary(in, type, depth);
    }
}

/* As a Hash key or Set member. */
INLINED VALUE get_key(tn_in *in, tn_type *type, int depth, const bool compact)
{
    if (type->ttype == TN_T_STRING)
        return get_key_string(in, type->binary, compact);
    return get_value(in, type, depth, compact);
}

/* Each element takes a byte at least: more room than that is never made at once. */
static long first_capacity(const tn_in *in, long size)
{
    long most = tn_in_at_hand(in) < FIRST_CAPACITY ? tn_in_at_hand(in) : FIRST_CAPACITY;
    return size < most ? size : most;
}

static void skip_elements(tn_in *in, int ttype, long size)
{
    for (long i = 0; i < size; i++)
        tn_decode_skip(in, ttype, SKIP_DEPTH);
}

/* Values that aren't objects (or Strings, which are marked from here) go through the C stack in one piece. */
INLINED VALUE get_scalars(tn_in *in, tn_type *type, long size, int depth, const bool compact)
{
    VALUE chunk[CHUNK];
    long part = size < CHUNK ? size : CHUNK;
    for (long i = 0; i < part; i++)
        chunk[i] = get_value(in, type, depth, compact);
    if (part == size)
        return rb_ary_new_from_values(part, chunk);
    long most = first_capacity(in, size - part);
    VALUE array = rb_ary_new_capa(part + most);
    rb_ary_cat(array, chunk, part);
    while (size > part) {
        size -= part;
        part = size < CHUNK ? size : CHUNK;
        for (long i = 0; i < part; i++)
            chunk[i] = get_value(in, type, depth, compact);
        rb_ary_cat(array, chunk, part);
        if (part == size)
            break;
    }
    return array;
}

INLINED VALUE get_list(tn_in *in, tn_type *type, int depth, const bool compact)
{
    list_header header = get_list_header(in, compact);
    tn_type *element = type->value;
    if (TN_UNLIKELY(header.ttype != element->ttype)) {
        skip_elements(in, header.ttype, header.size);
        return Qnil;
    }
    switch (element->ttype) { /* a loop for each, without a choice inside */
    case TN_T_I64:
        return get_scalars(in, &(tn_type){.ttype = TN_T_I64}, header.size, depth, compact);
    case TN_T_I32:
        return get_scalars(in, &(tn_type){.ttype = TN_T_I32}, header.size, depth, compact);
    case TN_T_DOUBLE:
        return get_scalars(in, &(tn_type){.ttype = TN_T_DOUBLE}, header.size, depth, compact);
    case TN_T_STRING:
        if (!element->binary)
            return get_scalars(in, &(tn_type){.ttype = TN_T_STRING}, header.size, depth, compact);
    }
    VALUE array = rb_ary_new_capa(first_capacity(in, header.size));
    for (long i = 0; i < header.size; i++)
        rb_ary_push(array, get_value(in, element, depth, compact));
    return array;
}

/* `hash` and `eql?` of a struct are the program's. */
static inline void before_hashing(tn_in *in, const tn_type *key)
{
    if (TN_UNLIKELY(key->runs_ruby))
        tn_in_leave(in);
}

static inline void after_hashing(tn_in *in, const tn_type *key)
{
    if (TN_LIKELY(!key->runs_ruby))
        return;
    tn_in_return(in);
}

INLINED VALUE get_set(tn_in *in, tn_type *type, int depth, const bool compact)
{
    list_header header = get_list_header(in, compact);
    tn_type *element = type->value;
    if (TN_UNLIKELY(header.ttype != element->ttype)) {
        skip_elements(in, header.ttype, header.size);
        return Qnil;
    }
    VALUE chunk[CHUNK], set = 0;
    long done = 0;
    do {
        long part = header.size - done < CHUNK ? header.size - done : CHUNK;
        for (long i = 0; i < part; i++)
            chunk[i] = get_key(in, element, depth, compact);
        before_hashing(in, element);
        if (set)
            tn_set_add(set, part, chunk);
        else
            set = tn_set_new(part, chunk);
        after_hashing(in, element);
        done += part;
    } while (done < header.size);
    return set;
}

INLINED VALUE get_map(tn_in *in, tn_type *type, int depth, const bool compact)
{
    map_header header = get_map_header(in, compact);
    if (TN_UNLIKELY(header.size && (header.key != type->key->ttype || header.value != type->value->ttype))) {
        for (long i = 0; i < header.size; i++) {
            tn_decode_skip(in, header.key, SKIP_DEPTH);
            tn_decode_skip(in, header.value, SKIP_DEPTH);
        }
        return Qnil;
    }
    VALUE chunk[CHUNK], map = rb_hash_new();
    for (long done = 0; done < header.size;) {
        long part = header.size - done < CHUNK / 2 ? header.size - done : CHUNK / 2;
        for (long i = 0; i < part; i++) {
            chunk[2 * i] = get_key(in, type->key, depth, compact);
            chunk[2 * i + 1] = get_value(in, type->value, depth, compact);
        }
        before_hashing(in, type->key);
        rb_hash_bulk_insert(part * 2, chunk, map);
        after_hashing(in, type->key);
        done += part;
    }
    return map;
}

static VALUE get_list_in_binary(tn_in *in, tn_type *type, int depth)
{
    return get_list(in, type, depth, false);
}

static VALUE get_list_in_compact(tn_in *in, tn_type *type, int depth)
{
    return get_list(in, type, depth, true);
}

static VALUE get_set_in_binary(tn_in *in, tn_type *type, int depth)
{
    return get_set(in, type, depth, false);
}

static VALUE get_set_in_compact(tn_in *in, tn_type *type, int depth)
{
    return get_set(in, type, depth, true);
}

static VALUE get_map_in_binary(tn_in *in, tn_type *type, int depth)
{
    return get_map(in, type, depth, false);
}

static VALUE get_map_in_compact(tn_in *in, tn_type *type, int depth)
{
    return get_map(in, type, depth, true);
}

/* ---- structs ---- */

static void call_validate(tn_in *in, VALUE object, tn_schema *schema)
{
    if (TN_LIKELY(tn_validate_passes(object, schema)))
        return;
    tn_in_leave(in);
    rb_funcallv(object, tn_id_validate, 0, NULL);
    tn_in_return(in);
}

INLINED void get_fields(tn_in *in, VALUE object, tn_schema *schema, int depth, const bool compact)
{
    int last_id = 0;
    for (;;) {
        field_header header = get_field_header(in, &last_id, compact);
        if (header.ttype == TN_T_STOP)
            return;
        tn_field *field = tn_schema_find(schema, header.id);
        bool known = field && field->type.ttype == header.ttype;
        if (compact && header.inline_bool >= 0) {
            if (known)
                tn_field_set(object, schema, field, header.inline_bool ? Qtrue : Qfalse);
        } else if (TN_LIKELY(known)) {
            tn_field_set(object, schema, field, get_value(in, &field->type, depth, compact));
        } else {
            tn_decode_skip(in, header.ttype, SKIP_DEPTH);
        }
    }
}

static void get_fields_in_binary(tn_in *in, VALUE object, tn_schema *schema, int depth)
{
    get_fields(in, object, schema, depth, false);
}

static void get_fields_in_compact(tn_in *in, VALUE object, tn_schema *schema, int depth)
{
    get_fields(in, object, schema, depth, true);
}

/* A union has one field; none known leaves it unset. */
INLINED void get_union(tn_in *in, VALUE object, tn_schema *schema, int depth, const bool compact)
{
    int last_id = 0;
    field_header header = get_field_header(in, &last_id, compact);
    tn_field *field = tn_schema_find(schema, header.id);
    if (field && field->type.ttype == header.ttype) {
        VALUE value = compact && header.inline_bool >= 0 ? (header.inline_bool ? Qtrue : Qfalse)
                                                         : get_value(in, &field->type, depth, compact);
        rb_ivar_set(object, tn_id_iv_setfield, field->symbol);
        rb_ivar_set(object, tn_id_iv_value, value);
    } else if (header.inline_bool < 0) {
        tn_decode_skip(in, header.ttype, SKIP_DEPTH);
    }
    if (get_field_header(in, &last_id, compact).ttype != TN_T_STOP)
        fail(in, TN_PROTOCOL_INVALID_DATA, "too many fields in union!");
}

static void get_members(tn_in *in, VALUE object, tn_schema *schema, int depth)
{
    if (TN_UNLIKELY(schema->is_union)) {
        if (in->compact)
            get_union(in, object, schema, depth, true);
        else
            get_union(in, object, schema, depth, false);
    } else if (in->compact) {
        get_fields_in_compact(in, object, schema, depth);
    } else {
        get_fields_in_binary(in, object, schema, depth);
    }
}

static void reset_fields(VALUE object, tn_schema *schema)
{
    for (long i = 0; i < schema->count; i++) {
        tn_field *field = &schema->fields[i];
        if (NIL_P(field->default_value) && !NIL_P(tn_field_get(object, schema, field)))
            tn_field_set(object, schema, field, Qnil);
    }
    tn_schema_set_defaults(schema, object);
}

static bool holds_something(VALUE object, const tn_schema *schema)
{
    return schema->is_union || (schema->count > 0 && rb_ivar_count(object) > 0);
}

/* Reading twice into one object: nothing of the first time may be left. */
static void reset(VALUE object, tn_schema *schema)
{
    rb_check_frozen(object);
    if (!schema->is_union) {
        reset_fields(object, schema);
        return;
    }
    if (!NIL_P(rb_attr_get(object, tn_id_iv_setfield)))
        rb_ivar_set(object, tn_id_iv_setfield, Qnil);
    if (!NIL_P(rb_attr_get(object, tn_id_iv_value)))
        rb_ivar_set(object, tn_id_iv_value, Qnil);
}

/* A new struct, with its defaults. `*fresh` tells that there is nothing else in it. */
static VALUE new_struct(tn_in *in, tn_type *type, bool *fresh)
{
    if (TN_UNLIKELY(type->checked != tn_schema_operation))
        tn_schema_of_type(type, type->klass);
    VALUE object = rb_obj_alloc(type->klass);
    *fresh = type->checked == tn_schema_operation && tn_schema_initialize_known(type->schema, object);
    if (TN_LIKELY(*fresh && type->schema->default_count == 0))
        return object;
    tn_in_leave(in);
    if (*fresh)
        tn_schema_set_defaults(type->schema, object);
    else
        rb_funcallv(object, tn_id_initialize, 0, NULL);
    tn_in_return(in);
    return object;
}

/* A struct whose FIELDS we don't understand, inside of one that we do. */
static void get_by_stock_code(tn_in *in, VALUE object, int depth)
{
    VALUE arguments[2] = {in->channel.protocol, INT2FIX(depth)};
    tn_in_leave(in);
    rb_funcallv(object, tn_id_stock_read, takes_depth ? 2 : 1, arguments);
    tn_in_return(in);
}

/* Fields and validate. `schema` is that of the object's class, NULL if there is none. */
static void get_struct_body(tn_in *in, VALUE object, tn_schema *schema, bool fresh, int depth)
{
    VALUE holder = schema->holder; /* user code may give the class another schema */
    if (resets_fields && !fresh && holds_something(object, schema)) {
        tn_in_leave(in);
        reset(object, schema);
        tn_in_return(in);
    }
    if (!schema->is_union && !RB_OBJ_FROZEN(object))
        tn_field_prepare(object, schema);
    get_members(in, object, schema, depth);
    call_validate(in, object, schema);
    RB_GC_GUARD(holder);
}

static VALUE get_struct(tn_in *in, tn_type *type, int depth)
{
    bool fresh;
    VALUE object = new_struct(in, type, &fresh);
    if (TN_UNLIKELY(depth <= 0))
        fail(in, TN_PROTOCOL_DEPTH_LIMIT, "Maximum recursion depth exceeded");
    /* Its class may be another than the one named: `allocate` is the program's. */
    tn_schema *schema = tn_schema_inside(object, type);
    if (TN_LIKELY(schema))
        get_struct_body(in, object, schema, fresh, depth);
    else
        get_by_stock_code(in, object, depth);
    RB_GC_GUARD(object);
    return object;
}

bool tn_decode_struct(tn_in *in, VALUE object, tn_schema *known, int depth)
{
    tn_schema *schema = known ? tn_schema_check(RBASIC_CLASS(object), known) : tn_schema_of(rb_obj_class(object));
    if (!schema)
        return false;
    get_struct_body(in, object, schema, false, depth);
    return true;
}

void tn_decode_init(void)
{
    union_class = rb_path2class("Thrift::Union");
    rb_gc_register_mark_object(union_class);
    struct_module = rb_path2class("Thrift::Struct");
    rb_gc_register_mark_object(struct_module);
    resets_fields = takes_depth = rb_const_defined(tn_mThrift, rb_intern("DEFAULT_RECURSION_DEPTH"));
    VALUE uuid = tn_thrift_class("UUID"), zeros = rb_str_new("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
    frozen_uuid = uuid && OBJ_FROZEN(rb_funcall(uuid, rb_intern("uuid_from_bytes"), 1, zeros));
}
