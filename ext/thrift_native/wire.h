/* SPDX-License-Identifier: Apache-2.0
 * Numbers as they are on the wire: big-endian (binary protocol), zigzag and varint, little-endian doubles (compact).
 * Rules: thrift's doc/specs/thrift-binary-protocol.md and thrift-compact-protocol.md. */
#ifndef TN_WIRE_H
#define TN_WIRE_H

#include "tn.h"

#include <string.h>

/* Thrift's field types, as the binary protocol writes them. */
typedef enum {
    TN_T_STOP = 0,
    TN_T_VOID = 1,
    TN_T_BOOL = 2,
    TN_T_BYTE = 3,
    TN_T_DOUBLE = 4,
    TN_T_I16 = 6,
    TN_T_I32 = 8,
    TN_T_I64 = 10,
    TN_T_STRING = 11,
    TN_T_STRUCT = 12,
    TN_T_MAP = 13,
    TN_T_SET = 14,
    TN_T_LIST = 15,
    TN_T_UUID = 16,
    TN_T_COUNT
} tn_ttype;

/* The compact protocol's types. A bool field carries its value in its type. */
typedef enum {
    TN_C_STOP = 0,
    TN_C_TRUE = 1,
    TN_C_FALSE = 2,
    TN_C_BYTE = 3,
    TN_C_I16 = 4,
    TN_C_I32 = 5,
    TN_C_I64 = 6,
    TN_C_DOUBLE = 7,
    TN_C_BINARY = 8,
    TN_C_LIST = 9,
    TN_C_SET = 10,
    TN_C_MAP = 11,
    TN_C_STRUCT = 12,
    TN_C_UUID = 13
} tn_ctype;

/* -1 where there is none. */
static inline int tn_compact_type(unsigned ttype)
{
    static const int8_t table[TN_T_COUNT] = {
        [TN_T_STOP] = TN_C_STOP,     [TN_T_VOID] = -1,
        [TN_T_BOOL] = TN_C_TRUE,     [TN_T_BYTE] = TN_C_BYTE,
        [TN_T_DOUBLE] = TN_C_DOUBLE, [5] = -1,
        [TN_T_I16] = TN_C_I16,       [7] = -1,
        [TN_T_I32] = TN_C_I32,       [9] = -1,
        [TN_T_I64] = TN_C_I64,       [TN_T_STRING] = TN_C_BINARY,
        [TN_T_STRUCT] = TN_C_STRUCT, [TN_T_MAP] = TN_C_MAP,
        [TN_T_SET] = TN_C_SET,       [TN_T_LIST] = TN_C_LIST,
        [TN_T_UUID] = TN_C_UUID,
    };
    return ttype < TN_T_COUNT ? table[ttype] : -1;
}

static inline int tn_type_of_compact(unsigned ctype)
{
    static const int8_t table[14] = {TN_T_STOP,   TN_T_BOOL,   TN_T_BOOL, TN_T_BYTE, TN_T_I16, TN_T_I32,    TN_T_I64,
                                     TN_T_DOUBLE, TN_T_STRING, TN_T_LIST, TN_T_SET,  TN_T_MAP, TN_T_STRUCT, TN_T_UUID};
    return ctype < sizeof(table) ? table[ctype] : -1;
}

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define TN_BE16(n) (n)
#define TN_BE32(n) (n)
#define TN_BE64(n) (n)
#define TN_LE64(n) __builtin_bswap64(n)
#else
#define TN_BE16(n) __builtin_bswap16(n)
#define TN_BE32(n) __builtin_bswap32(n)
#define TN_BE64(n) __builtin_bswap64(n)
#define TN_LE64(n) (n)
#endif

static inline void tn_put_be16(char *p, uint16_t n)
{
    n = TN_BE16(n);
    memcpy(p, &n, sizeof(n));
}

static inline void tn_put_be32(char *p, uint32_t n)
{
    n = TN_BE32(n);
    memcpy(p, &n, sizeof(n));
}

static inline void tn_put_be64(char *p, uint64_t n)
{
    n = TN_BE64(n);
    memcpy(p, &n, sizeof(n));
}

static inline void tn_put_le64(char *p, uint64_t n)
{
    n = TN_LE64(n);
    memcpy(p, &n, sizeof(n));
}

static inline uint64_t tn_get_le64(const char *p)
{
    uint64_t n;
    memcpy(&n, p, sizeof(n));
    return TN_LE64(n);
}

static inline uint16_t tn_get_be16(const char *p)
{
    uint16_t n;
    memcpy(&n, p, sizeof(n));
    return TN_BE16(n);
}

static inline uint32_t tn_get_be32(const char *p)
{
    uint32_t n;
    memcpy(&n, p, sizeof(n));
    return TN_BE32(n);
}

static inline uint64_t tn_get_be64(const char *p)
{
    uint64_t n;
    memcpy(&n, p, sizeof(n));
    return TN_BE64(n);
}

static inline uint64_t tn_bits_of_double(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static inline double tn_double_of_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static inline uint32_t tn_zigzag32(int32_t n)
{
    return ((uint32_t)n << 1) ^ (uint32_t)(n >> 31);
}

static inline uint64_t tn_zigzag64(int64_t n)
{
    return ((uint64_t)n << 1) ^ (uint64_t)(n >> 63);
}

static inline int64_t tn_unzigzag64(uint64_t n)
{
    return (int64_t)((n >> 1) ^ (0 - (n & 1)));
}

static inline int32_t tn_unzigzag32(uint32_t n)
{
    return (int32_t)((n >> 1) ^ (0 - (n & 1)));
}

enum { TN_VARINT32_MAX = 5, TN_VARINT64_MAX = 10 };

static inline char *tn_put_varint(char *p, uint64_t n)
{
    while (n >= 0x80) {
        *p++ = (char)(n | 0x80);
        n >>= 7;
    }
    *p++ = (char)n;
    return p;
}

#endif
