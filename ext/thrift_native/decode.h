/* SPDX-License-Identifier: Apache-2.0
 * Bytes to Ruby objects, for both protocols. */
#ifndef TN_DECODE_H
#define TN_DECODE_H

#include "channel.h"
#include "schema.h"

/* Reads into `object`, a struct or union, as the installed thrift does (0.25 resets its fields first), and calls its
 * `validate`. `depth` is what is left of the recursion limit; `known` the schema of its class as it was, or NULL.
 * False, with nothing read, if the class's FIELDS isn't understood. The caller commits `in` in the end; before anything
 * that raises that is done. */
bool tn_decode_struct(tn_in *in, VALUE object, tn_schema *known, int depth);

/* Skips a value of this type, as BaseProtocol#skip does. */
void tn_decode_skip(tn_in *in, int ttype, int depth);

/* One value on its own, as the protocol methods read it. */
uint32_t tn_decode_varint32(tn_in *in);
uint64_t tn_decode_varint64(tn_in *in);
VALUE tn_decode_text(tn_in *in);
VALUE tn_decode_binary(tn_in *in);
VALUE tn_decode_uuid(tn_in *in);

/* A length that was read: NEGATIVE_SIZE and SIZE_LIMIT are raised here. */
long tn_decode_checked_string_size(tn_in *in, int64_t size);

/* The length in front of a string. */
long tn_decode_string_size(tn_in *in);

NORETURN(void tn_raise_compact_type(tn_in *in, int ctype));

void tn_decode_init(void);

#endif
