/* SPDX-License-Identifier: Apache-2.0 */
#include "stock.h"

int tn_binary;

VALUE tn_stock(VALUE self, ID alias, int argc, const VALUE *argv)
{
    return rb_funcallv(self, alias, argc, argv);
}

VALUE tn_stock_or_super(VALUE self, ID alias, int argc, const VALUE *argv)
{
    bool aliased = rb_method_boundp(CLASS_OF(self), alias, 0);
    return aliased ? rb_funcallv(self, alias, argc, argv) : rb_call_super(argc, argv);
}

VALUE tn_make_binary(VALUE string)
{
    if (RB_OBJ_FROZEN_RAW(string))
        string = rb_str_dup(string);
    return rb_enc_associate_index(string, tn_binary);
}

void tn_stock_init(void)
{
    tn_binary = rb_ascii8bit_encindex();
}
