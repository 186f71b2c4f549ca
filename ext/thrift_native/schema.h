/* SPDX-License-Identifier: Apache-2.0
 * What a struct class's FIELDS says, compiled once per class. It hangs on the class by a hidden instance variable, so
 * that it lives as long as the class, and is built anew when FIELDS is another object. */
#ifndef TN_SCHEMA_H
#define TN_SCHEMA_H

#include "exact.h"
#include "wire.h"

#include <ruby/version.h>

typedef struct tn_type tn_type;
typedef struct tn_schema tn_schema;
struct tn_type {
    uint8_t ttype;
    bool binary;       /* STRING: bytes, not text */
    bool runs_ruby;    /* writing or reading a value of it can call back into the program: it has a struct in it */
    VALUE klass;       /* STRUCT: its class */
    VALUE holder;      /* STRUCT: of the schema of klass, as it was; 0: none */
    tn_schema *schema; /* STRUCT: the schema of klass, if `checked` is the current operation */
    unsigned long checked;
    tn_type *key;   /* MAP */
    tn_type *value; /* MAP: values; LIST and SET: elements */
};

/* What `validate` asks of a field. */
typedef enum { TN_OPTIONAL, TN_REQUIRED_SET, TN_REQUIRED_GIVEN } tn_required;

typedef struct {
    int16_t id;
    int32_t slot; /* of the instance variable, where the layout is known; -1 until seen */
    tn_type type;
    ID ivar;
    VALUE symbol;        /* the name; a union's @setfield */
    VALUE name;          /* String */
    VALUE default_value; /* nil: none */
    tn_required required;
    VALUE enum_module; /* nil, or what has the VALID_VALUES that `validate` allows */
    VALUE enum_values; /* a Hash with them as keys, or nil, as of operation enum_checked */
    unsigned long enum_checked;
} tn_field;

enum { TN_DIRECT_IDS = 64 };

struct tn_schema {
    VALUE holder; /* the object that owns this: keep it on the stack while user code may replace the schema */
    VALUE fields_hash;
    unsigned long checked; /* the operation in which fields_hash was last compared */
    VALUE klass;           /* whose schema it is: dup and clone copy instance variables */
    VALUE super;           /* what the class was linked to; prepend and include change it */
    unsigned proven;       /* which of its methods are known: TN_PROVEN_... */
    long checked_count;
    int16_t *checked_fields; /* positions of the fields that `validate` looks at */
    bool stale;              /* the class has another one */
    bool understood;         /* if not, this only remembers so */
    enum {
        TN_FIELDS_UNKNOWN,
        TN_FIELDS_SAME,
        TN_FIELDS_OTHER
    } struct_fields; /* is fields_hash what this method returns? */
    bool is_union;
    bool is_exception;
    int32_t top_slot;     /* the highest one known */
    uint64_t known_slots; /* a bit for each that is a field's, of the first 64 */
    long unseen;          /* fields whose slots aren't known */
    long size;            /* of fields_hash */
    long count;
    tn_field *fields; /* by ascending id */
    long default_count;
    int16_t *default_ids;          /* of the fields with defaults, as FIELDS has them: the order shows in an object */
    uint8_t direct[TN_DIRECT_IDS]; /* position + 1 of the field with this id */
};

/* The methods of a class that needn't be called, because it's known what they do: see lib/thrift/native/fields.rb. */
enum { TN_PROVEN_INITIALIZE = 1, TN_PROVEN_READ = 2, TN_PROVEN_WRITE = 4, TN_PROVEN_VALIDATE = 8 };

/* Called at the start of each whole-struct read or write: schemas are compared with FIELDS once in it. */
extern unsigned long tn_schema_operation;

/* The schema of a class, or NULL if its FIELDS is nothing that we understand, or the class looks at it in its own way
 * (then the stock code has to do it). A FIELDS that is changed in place is noticed by its size only. Raises NameError
 * if there is no FIELDS, as the stock code does. */
tn_schema *tn_schema_of(VALUE klass);

/* The same, given the class's schema as it was, or NULL. */
tn_schema *tn_schema_check(VALUE klass, tn_schema *schema);

/* The same; remembered in `type` for the rest of the operation if `klass` is the class that it names. */
tn_schema *tn_schema_of_type(tn_type *type, VALUE klass);

/* The schema of an object's class, given the type as which it is written or read. */
static inline tn_schema *tn_schema_inside(VALUE object, tn_type *type)
{
    if (TN_LIKELY(type->checked == tn_schema_operation && type->klass == RBASIC_CLASS(object)))
        return type->schema;
    return tn_schema_of_type(type, rb_obj_class(object));
}

static inline bool tn_schema_helpers_untouched(void)
{
    return tn_class_untouched(&tn_watch_list[TN_STRUCT]) && tn_class_untouched(&tn_watch_list[TN_STRUCT_UNION]);
}

/* Would object.method be what it's known to be, now? */
static inline bool tn_schema_proves(const tn_schema *schema, VALUE object, unsigned method)
{
    return (schema->proven & method) && RBASIC_CLASS(object) == schema->klass &&
           rb_class_get_superclass(schema->klass) == schema->super && tn_schema_helpers_untouched();
}

/* The schema of an object of which nothing is known yet, as it was, if that holds; else NULL. */
static inline tn_schema *tn_schema_proven(VALUE object, unsigned method)
{
    VALUE holder = RB_SPECIAL_CONST_P(object) ? Qnil : rb_attr_get(RBASIC_CLASS(object), tn_id_hidden_schema);
    tn_schema *schema = NIL_P(holder) ? NULL : RTYPEDDATA_DATA(holder);
    return schema && tn_schema_proves(schema, object, method) ? schema : NULL;
}

static inline tn_field *tn_schema_find_slow(tn_schema *schema, int id)
{
    long low = 0, high = schema->count - 1;
    while (low <= high) {
        long middle = (low + high) / 2;
        if (schema->fields[middle].id == id)
            return &schema->fields[middle];
        if (schema->fields[middle].id < id)
            low = middle + 1;
        else
            high = middle - 1;
    }
    return NULL;
}

static inline tn_field *tn_schema_find(tn_schema *schema, int id)
{
    if (TN_LIKELY(id >= 0 && id < TN_DIRECT_IDS)) {
        unsigned position = schema->direct[id];
        return position ? &schema->fields[position - 1] : NULL;
    }
    return tn_schema_find_slow(schema, id);
}

#if RUBY_API_VERSION_CODE < 30200
#define TN_KNOWN_LAYOUT 1

VALUE tn_field_get_slow(VALUE object, tn_schema *schema, tn_field *field);
void tn_field_set_slow(VALUE object, tn_schema *schema, tn_field *field, VALUE value);

static inline bool tn_field_at_hand(VALUE object, const tn_field *field)
{
    return field->slot >= 0 && RB_BUILTIN_TYPE(object) == T_OBJECT && field->slot < (int32_t)ROBJECT_NUMIV(object);
}

/* The field's instance variable; nil if it isn't set. */
static inline VALUE tn_field_get(VALUE object, tn_schema *schema, tn_field *field)
{
    if (TN_UNLIKELY(!tn_field_at_hand(object, field)))
        return tn_field_get_slow(object, schema, field);
    VALUE value = ROBJECT_IVPTR(object)[field->slot];
    return value == Qundef ? Qnil : value;
}

/* Sets it. Raises FrozenError. */
static inline void tn_field_set(VALUE object, tn_schema *schema, tn_field *field, VALUE value)
{
    if (TN_LIKELY(tn_field_at_hand(object, field) && !RB_OBJ_FROZEN_RAW(object)))
        RB_OBJ_WRITE(object, &ROBJECT_IVPTR(object)[field->slot], value);
    else
        tn_field_set_slow(object, schema, field, value);
}
#else
static inline VALUE tn_field_get(VALUE object, TN_UNUSED tn_schema *schema, tn_field *field)
{
    return rb_attr_get(object, field->ivar);
}

static inline void tn_field_set(VALUE object, TN_UNUSED tn_schema *schema, tn_field *field, VALUE value)
{
    rb_ivar_set(object, field->ivar, value);
}
#endif

/* Would object.initialize set the defaults and do nothing else? */
bool tn_schema_initialize_known(const tn_schema *schema, VALUE object);

/* Gives the object a copy of each default, as far as they can be copied, in the order of FIELDS. May run user code. */
void tn_schema_set_defaults(tn_schema *schema, VALUE object);

/* A copy of a default, or itself. */
VALUE tn_schema_default_copy(const tn_field *field);

static inline bool tn_field_unseen(const tn_field *field)
{
    return field->slot < 0;
}

/* May fields be set whose slots aren't known? In a class of many optional fields most are never seen; asking for each
 * of them takes longer than writing the rest. */
#ifdef TN_KNOWN_LAYOUT
bool tn_field_others_set(VALUE object, const tn_schema *schema);
#else
static inline bool tn_field_others_set(TN_UNUSED VALUE object, TN_UNUSED const tn_schema *schema)
{
    return true;
}
#endif

/* A new object: makes room for all instance variables at once. */
void tn_field_prepare(VALUE object, tn_schema *schema);

void tn_schema_init(VALUE ext);

#endif
