/* SPDX-License-Identifier: Apache-2.0
 * What the `validate` that the Thrift compiler writes looks at. lib/thrift/native/validation.rb knows it when it sees
 * it; any other one is called. */
#ifndef TN_VALIDATE_H
#define TN_VALIDATE_H

#include "schema.h"

/* Takes over the checks of the class's own `validate`, an Array of Arrays. Forgets that it's known if they aren't
 * clear. */
void tn_validate_take(tn_schema *schema, VALUE checks);

/* True if object.validate is known, and would return: then it needn't be called. */
bool tn_validate_passes(VALUE object, tn_schema *schema);

#endif
