/* SPDX-License-Identifier: Apache-2.0 */
#include "names.h"

#define TN_DEFINE_ID(name, text) ID tn_id_##name;
TN_IDS(TN_DEFINE_ID)
#undef TN_DEFINE_ID

VALUE tn_mThrift;
VALUE tn_cBaseTransport;
VALUE tn_eTransportException;

static VALUE known_class(const char *name)
{
    VALUE klass = rb_path2class(name);
    rb_gc_register_mark_object(klass);
    return klass;
}

void tn_names_init(void)
{
#define TN_INTERN_ID(name, text) tn_id_##name = rb_intern(text);
    TN_IDS(TN_INTERN_ID)
#undef TN_INTERN_ID
    tn_mThrift = known_class("Thrift");
    tn_cBaseTransport = known_class("Thrift::BaseTransport");
    tn_eTransportException = known_class("Thrift::TransportException");
}
