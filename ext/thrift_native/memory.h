/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TN_MEMORY_H
#define TN_MEMORY_H

#include "tn.h"

/* Defines Ext::MemoryBufferTransport: the methods of Thrift::MemoryBufferTransport that touch bytes. */
void tn_memory_init(VALUE ext);

#endif
