/* SPDX-License-Identifier: Apache-2.0
 * Strings that become Hash keys or Set members: frozen, and the short ones that came lately are used again, because
 * maps of records have the same few keys. Not interned: with keys that never come back that costs twice as much. */
#ifndef TN_KEYS_H
#define TN_KEYS_H

#include "tn.h"

/* A frozen String with these bytes, UTF-8 or BINARY. */
VALUE tn_key_string(const char *bytes, long length, bool binary);

void tn_keys_init(void);

#endif
