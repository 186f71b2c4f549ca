/* SPDX-License-Identifier: Apache-2.0 */
#include "errors.h"

static VALUE transport_exception(tn_transport_error type, VALUE message)
{
    VALUE arguments[2] = {INT2FIX(type), message};
    return rb_class_new_instance(2, arguments, tn_eTransportException);
}

void tn_raise_transport(tn_transport_error type, VALUE message)
{
    rb_exc_raise(transport_exception(type, message));
}

void tn_raise_transport_caused(tn_transport_error type, VALUE message, VALUE cause)
{
    if (NIL_P(cause))
        tn_raise_transport(type, message);
    VALUE options = rb_hash_new();
    rb_hash_aset(options, ID2SYM(rb_intern("cause")), cause);
    VALUE arguments[2] = {transport_exception(type, message), options};
    rb_funcallv_kw(rb_mKernel, tn_id_raise, 2, arguments, RB_PASS_KEYWORDS);
    UNREACHABLE;
}

void tn_raise_negative_size(void)
{
    tn_raise_transport(TN_NEGATIVE_SIZE, rb_str_new_cstr("Negative size"));
}

void tn_raise_no_more_data(void)
{
    tn_raise_transport(TN_END_OF_FILE, rb_str_new_cstr("No more data available"));
}
