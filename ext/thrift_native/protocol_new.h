/* SPDX-License-Identifier: Apache-2.0
 * Making protocols: programs do it for every message. */
#ifndef TN_PROTOCOL_NEW_H
#define TN_PROTOCOL_NEW_H

#include "tn.h"

void tn_protocol_new_init(VALUE ext);

#endif
