/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TN_SERIALIZER_H
#define TN_SERIALIZER_H

#include "tn.h"

void tn_serializer_init(VALUE ext);

#endif
