/* SPDX-License-Identifier: Apache-2.0
 * The way back to the thrift gem's own method, and the String handling that the transports share. */
#ifndef TN_STOCK_H
#define TN_STOCK_H

#include "names.h"

/* From a method of ours: calls the one that was there before us, under its private alias. */
VALUE tn_stock(VALUE self, ID alias, int argc, const VALUE *argv);

/* The same for a method that not every thrift defines in the class itself: where there is no alias it is `super`. */
VALUE tn_stock_or_super(VALUE self, ID alias, int argc, const VALUE *argv);

/* The encoding index of BINARY. */
extern int tn_binary;

static inline bool tn_binary_p(VALUE string)
{
    return RB_ENCODING_GET_INLINED(string) == tn_binary;
}

/* Bytes.force_binary_encoding: changes the caller's string in place as the thrift gem does, copies a frozen one. */
VALUE tn_make_binary(VALUE string);

static inline VALUE tn_force_binary(VALUE string)
{
    return TN_LIKELY(tn_binary_p(string)) ? string : tn_make_binary(string);
}

/* `string << bytes` for two Strings, the second BINARY. */
static inline VALUE tn_append(VALUE string, VALUE bytes)
{
    if (TN_UNLIKELY(!tn_binary_p(string)))
        return rb_str_append(string, bytes);
    rb_str_cat(string, RSTRING_PTR(bytes), RSTRING_LEN(bytes));
    RB_GC_GUARD(bytes);
    return string;
}

/* True if `value` is a String that may be appended to. */
static inline bool tn_mutable_string_p(VALUE value)
{
    return RB_TYPE_P(value, T_STRING) && !RB_OBJ_FROZEN_RAW(value);
}

void tn_stock_init(void);

#endif
