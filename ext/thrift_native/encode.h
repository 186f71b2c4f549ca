/* SPDX-License-Identifier: Apache-2.0
 * Ruby objects to bytes, for both protocols. */
#ifndef TN_ENCODE_H
#define TN_ENCODE_H

#include "channel.h"
#include "out.h"
#include "schema.h"

/* Appends the struct or union to `out`. Calls its `validate` as the stock code does. `depth` is what is left of the
 * recursion limit; `known` the schema of its class as it was, or NULL. False, with nothing decided, if the class's
 * FIELDS isn't understood: only for the outermost one, inside of it raises. Raises what the stock code of that protocol
 * raises for values that can't be written. */
bool tn_encode_struct(tn_out *out, VALUE object, tn_schema *known, tn_wire wire, int depth);

/* One value on its own, as the protocol methods write it. */
void tn_encode_string(tn_out *out, VALUE value, tn_wire wire);
void tn_encode_binary(tn_out *out, VALUE value, tn_wire wire);
void tn_encode_uuid(tn_out *out, VALUE value, tn_wire wire);
void tn_encode_double(tn_out *out, VALUE value, tn_wire wire);
void tn_encode_integer(tn_out *out, VALUE value, tn_ttype type, tn_wire wire);

/* Checks as the stock code does, and raises as it does. */
int64_t tn_checked_integer(VALUE value, int64_t least, int64_t most, tn_wire wire);

NORETURN(void tn_raise_protocol(int type, const char *message));
NORETURN(void tn_raise_protocol_message(int type, VALUE message));

/* Thrift::ProtocolException's types. */
enum {
    TN_PROTOCOL_UNKNOWN = 0,
    TN_PROTOCOL_INVALID_DATA = 1,
    TN_PROTOCOL_NEGATIVE_SIZE = 2,
    TN_PROTOCOL_SIZE_LIMIT = 3,
    TN_PROTOCOL_BAD_VERSION = 4,
    TN_PROTOCOL_NOT_IMPLEMENTED = 5,
    TN_PROTOCOL_DEPTH_LIMIT = 6
};

void tn_encode_init(void);

#endif
