/* SPDX-License-Identifier: Apache-2.0 */
#include "stock.h"

VALUE tn_stock(VALUE self, ID alias, ID inherited, int argc, const VALUE *argv)
{
    if (rb_obj_respond_to(self, alias, 1))
        return rb_funcallv(self, alias, argc, argv);
    VALUE name = ID2SYM(inherited);
    VALUE method = rb_funcallv(tn_cBaseTransport, rb_intern("instance_method"), 1, &name);
    VALUE bound = rb_funcallv(method, rb_intern("bind"), 1, &self);
    return rb_funcallv(bound, rb_intern("call"), argc, argv);
}

VALUE tn_force_binary(VALUE string)
{
    if (rb_enc_get_index(string) == rb_ascii8bit_encindex())
        return string;
    if (RB_OBJ_FROZEN_RAW(string))
        string = rb_str_dup(string);
    return rb_enc_associate_index(string, rb_ascii8bit_encindex());
}
