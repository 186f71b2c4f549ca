/* SPDX-License-Identifier: Apache-2.0
 * The way back to the thrift gem's own method, and the argument checks that the transports share. */
#ifndef TN_STOCK_H
#define TN_STOCK_H

#include "names.h"

/* Calls the method that was there before us, under its private alias, or the one inherited from BaseTransport. */
VALUE tn_stock(VALUE self, ID alias, ID inherited, int argc, const VALUE *argv);

/* Bytes.force_binary_encoding: changes the caller's string in place as the thrift gem does, copies a frozen one. */
VALUE tn_force_binary(VALUE string);

/* True if `value` is a String that may be appended to. */
static inline bool tn_mutable_string_p(VALUE value)
{
    return RB_TYPE_P(value, T_STRING) && !RB_OBJ_FROZEN_RAW(value);
}

/* `string << bytes`; two binary strings without a look at their characters. Returns string. */
static inline VALUE tn_append(VALUE string, VALUE bytes)
{
    int binary = rb_ascii8bit_encindex();
    if (rb_enc_get_index(string) != binary || rb_enc_get_index(bytes) != binary)
        return rb_str_buf_append(string, bytes);
    rb_str_cat(string, RSTRING_PTR(bytes), RSTRING_LEN(bytes));
    RB_GC_GUARD(bytes);
    return string;
}

#endif
