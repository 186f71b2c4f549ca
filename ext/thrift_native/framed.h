/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TN_FRAMED_H
#define TN_FRAMED_H

#include "tn.h"

/* Defines Ext::FramedTransport: the methods of Thrift::FramedTransport. */
void tn_framed_init(VALUE ext);

#endif
