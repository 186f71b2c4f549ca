/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TN_TEXT_H
#define TN_TEXT_H

#include "tn.h"

/* rb_utf8_str_new without its look at what the encoding was before. */
static inline VALUE tn_utf8_string(const char *bytes, long length)
{
    VALUE string = rb_str_new(bytes, length);
    RB_ENCODING_SET_INLINED(string, rb_utf8_encindex());
    return string;
}

/* The part of `whole` from `offset` on, `length` bytes of BINARY, without a copy if that is possible and worth it; else
 * 0. The byte behind it must be NUL, as behind every String. `whole` may be another object's memory afterwards. */
VALUE tn_shared_part(VALUE whole, long offset, long length);

void tn_text_init(void);

#endif
