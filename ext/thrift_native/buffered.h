/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TN_BUFFERED_H
#define TN_BUFFERED_H

#include "tn.h"

/* Defines Ext::BufferedTransport: the methods of Thrift::BufferedTransport. */
void tn_buffered_init(VALUE ext);

#endif
