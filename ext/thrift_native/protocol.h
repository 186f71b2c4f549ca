/* SPDX-License-Identifier: Apache-2.0
 * The methods of BinaryProtocol, BinaryProtocolAccelerated and CompactProtocol, called one by one. They do what the
 * codec does for a whole struct, on the same buffers and instance variables, so that both can be mixed. Where the
 * transport isn't known, its methods are called with what the stock code would give them; where the protocol isn't
 * exactly the thrift gem's, the stock method runs. */
#ifndef TN_PROTOCOL_H
#define TN_PROTOCOL_H

#include "channel.h"

/* @last_field of a compact protocol, its last element being a small Integer; 0 if it's anything else. */
VALUE tn_last_field(VALUE protocol);

/* The id on top of it. */
int tn_last_id(VALUE last_field);

void tn_set_last_id(VALUE last_field, int id);

void tn_protocol_write_init(VALUE ext);
void tn_protocol_read_init(VALUE ext);

#endif
