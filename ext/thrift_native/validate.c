/* SPDX-License-Identifier: Apache-2.0 */
#include "validate.h"
#include "sets.h"

/* Of a check: see Validation::Check. */
enum { KIND, FIELD, MODULE };

static tn_field *field_of(tn_schema *schema, VALUE name)
{
    for (long i = 0; i < schema->count; i++) {
        if (rb_str_equal(schema->fields[i].name, name) == Qtrue)
            return &schema->fields[i];
    }
    return NULL;
}

static bool take_check(tn_schema *schema, VALUE check)
{
    VALUE kind = rb_ary_entry(check, KIND);
    tn_field *field = field_of(schema, rb_ary_entry(check, FIELD));
    if (!field)
        return false;
    if (!field->required && NIL_P(field->enum_module))
        schema->checked_fields[schema->checked_count++] = (int16_t)(field - schema->fields);
    if (SYM2ID(kind) == rb_intern("set"))
        field->required = TN_REQUIRED_SET;
    else if (SYM2ID(kind) == rb_intern("given"))
        field->required = TN_REQUIRED_GIVEN;
    else
        field->enum_module = rb_ary_entry(check, MODULE);
    return true;
}

void tn_validate_take(tn_schema *schema, VALUE checks)
{
    Check_Type(checks, T_ARRAY);
    schema->checked_fields = ALLOC_N(int16_t, RARRAY_LEN(checks) + 1);
    for (long i = 0; i < RARRAY_LEN(checks); i++) {
        if (!take_check(schema, rb_ary_entry(checks, i)))
            schema->proven &= ~(unsigned)TN_PROVEN_VALIDATE;
    }
}

static VALUE enum_values(const tn_field *field)
{
    return tn_set_hash(rb_const_get(field->enum_module, tn_id_VALID_VALUES));
}

/* The constant can be set anew: looked up once in each operation. */
static bool known_value(tn_field *field, VALUE value)
{
    if (field->enum_checked != tn_schema_operation) {
        field->enum_values = enum_values(field);
        field->enum_checked = tn_schema_operation;
    }
    return FIXNUM_P(value) && !NIL_P(field->enum_values) &&
           rb_hash_lookup2(field->enum_values, value, Qundef) != Qundef;
}

static bool valid_field(tn_field *field, VALUE value)
{
    if (field->required == TN_REQUIRED_SET ? !RTEST(value) : field->required == TN_REQUIRED_GIVEN && NIL_P(value))
        return false;
    return NIL_P(field->enum_module) || NIL_P(value) || known_value(field, value);
}

bool tn_validate_passes(VALUE object, tn_schema *schema)
{
    if (TN_UNLIKELY(!tn_schema_proves(schema, object, TN_PROVEN_VALIDATE)))
        return false;
    for (long i = 0; i < schema->checked_count; i++) {
        tn_field *field = &schema->fields[schema->checked_fields[i]];
        if (!valid_field(field, tn_field_get(object, schema, field)))
            return false;
    }
    return true;
}
