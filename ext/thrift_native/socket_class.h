/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TN_SOCKET_CLASS_H
#define TN_SOCKET_CLASS_H

#include "tn.h"

/* Defines Ext::Socket: read, read_all and write of Thrift::Socket, SSLSocket and UNIXSocket. */
void tn_socket_class_init(VALUE ext);

#endif
