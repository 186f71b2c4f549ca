/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TN_STRUCT_CLASS_H
#define TN_STRUCT_CLASS_H

#include "tn.h"

/* The bytes of object.write(protocol) as a String, if that is our method and `transport`, an empty memory buffer, is
 * the protocol's; they aren't written there then. Else 0, and nothing was done. */
VALUE tn_struct_bytes(VALUE object, VALUE protocol, VALUE transport);

/* object.read(protocol), which may leave what was read in a memory buffer. */
void tn_struct_read(VALUE object, VALUE protocol);

/* Defines Ext::Struct and Ext::Union: what generated structs, exceptions, arguments, results and unions do. */
void tn_struct_class_init(VALUE ext);

#endif
