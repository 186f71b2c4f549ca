/* SPDX-License-Identifier: Apache-2.0
 * Ruby's Set from C. Up to Ruby 3.4 it is a Ruby class around a Hash in @hash; that this holds is tried when the
 * extension is loaded, else its public methods are called. */
#ifndef TN_SETS_H
#define TN_SETS_H

#include "names.h"

/* The Hash whose keys are the members, or nil if it isn't exactly a Set of that kind. */
VALUE tn_set_hash(VALUE set);

/* The members as an Array: of an Array, of a kind of Set, of a Hash (its keys). Raises TypeError for other things. */
VALUE tn_set_items(VALUE value);

/* A new Set with these members. */
VALUE tn_set_new(long count, const VALUE *members);

/* A new empty Set to which tn_set_add adds. */
void tn_set_add(VALUE set, long count, const VALUE *members);

void tn_sets_init(void);

#endif
