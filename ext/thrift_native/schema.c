/* SPDX-License-Identifier: Apache-2.0 */
#include "schema.h"
#include "validate.h"

#include <string.h>

unsigned long tn_schema_operation;

static VALUE box_class;
static VALUE sym_type, sym_name, sym_class, sym_key, sym_value, sym_element, sym_binary, sym_default;
static VALUE union_class, fields_module;

/* ---- the object that owns a schema ---- */

static void mark_type(const tn_type *type)
{
    if (type->holder)
        rb_gc_mark(type->holder);
    rb_gc_mark(type->klass); /* in place: compared with the classes of objects in mid-operation */
    if (type->key)
        mark_type(type->key);
    if (type->value)
        mark_type(type->value);
}

static void schema_mark(void *data)
{
    tn_schema *schema = data;
    rb_gc_mark_movable(schema->fields_hash);
    rb_gc_mark(schema->klass);
    rb_gc_mark(schema->super); /* so that its address means no other one */
    for (long i = 0; i < schema->count; i++) {
        mark_type(&schema->fields[i].type);
        rb_gc_mark_movable(schema->fields[i].name);
        rb_gc_mark_movable(schema->fields[i].default_value);
        rb_gc_mark(schema->fields[i].symbol);
        rb_gc_mark(schema->fields[i].enum_module);
        rb_gc_mark(schema->fields[i].enum_values);
    }
}

static void schema_compact(void *data)
{
    tn_schema *schema = data;
    schema->holder = rb_gc_location(schema->holder);
    schema->fields_hash = rb_gc_location(schema->fields_hash);
    for (long i = 0; i < schema->count; i++) {
        schema->fields[i].name = rb_gc_location(schema->fields[i].name);
        schema->fields[i].default_value = rb_gc_location(schema->fields[i].default_value);
    }
}

static void free_type(tn_type *type)
{
    tn_type *inner[] = {type->key, type->value};
    for (int i = 0; i < 2; i++) {
        if (inner[i]) {
            free_type(inner[i]);
            xfree(inner[i]);
        }
    }
}

static void schema_free(void *data)
{
    tn_schema *schema = data;
    for (long i = 0; i < schema->count; i++)
        free_type(&schema->fields[i].type);
    xfree(schema->fields);
    xfree(schema->default_ids);
    xfree(schema->checked_fields);
    xfree(schema);
}

static size_t schema_size(const void *data)
{
    const tn_schema *schema = data;
    return sizeof(*schema) + schema->count * (sizeof(tn_field) + sizeof(int16_t));
}

/* Not write-barrier protected: written while it is built, and then read only. */
static const rb_data_type_t schema_type = {
    .wrap_struct_name = "Thrift::Native schema",
    .function = {.dmark = schema_mark, .dfree = schema_free, .dsize = schema_size, .dcompact = schema_compact},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY,
};

/* ---- building ---- */

static tn_type *new_type(void)
{
    tn_type *type = ALLOC(tn_type);
    memset(type, 0, sizeof(*type));
    type->klass = Qnil;
    return type;
}

enum { NESTING = 64 }; /* of containers; a Hash that describes a type can contain itself */

static bool build_type(tn_type *type, VALUE info, int nesting);

/* `*slot` is owned by the schema from the start, so that nothing is lost when something raises. */
static bool build_inner(tn_type **slot, VALUE info, int nesting)
{
    *slot = new_type();
    return build_type(*slot, info, nesting - 1);
}

static bool build_type(tn_type *type, VALUE info, int nesting)
{
    if (!RB_TYPE_P(info, T_HASH) || nesting == 0)
        return false;
    VALUE ttype = rb_hash_lookup(info, sym_type);
    if (!FIXNUM_P(ttype) || FIX2LONG(ttype) < TN_T_BOOL || FIX2LONG(ttype) > TN_T_UUID)
        return false;
    type->ttype = (uint8_t)FIX2LONG(ttype);
    switch (type->ttype) {
    case TN_T_STRING:
        type->binary = rb_hash_lookup(info, sym_binary) == Qtrue;
        return true;
    case TN_T_STRUCT:
        type->klass = rb_hash_lookup(info, sym_class);
        type->runs_ruby = true;
        return RB_TYPE_P(type->klass, T_CLASS);
    case TN_T_LIST:
    case TN_T_SET:
        if (!build_inner(&type->value, rb_hash_lookup(info, sym_element), nesting))
            return false;
        type->runs_ruby = type->value->runs_ruby;
        return true;
    case TN_T_MAP:
        if (!build_inner(&type->key, rb_hash_lookup(info, sym_key), nesting) ||
            !build_inner(&type->value, rb_hash_lookup(info, sym_value), nesting))
            return false;
        type->runs_ruby = type->key->runs_ruby || type->value->runs_ruby;
        return true;
    default:
        return tn_compact_type(type->ttype) >= 0;
    }
}

typedef struct {
    tn_schema *schema;
    bool understood;
} building;

static int build_field(VALUE id, VALUE info, VALUE argument)
{
    building *b = (building *)argument;
    tn_field *field = &b->schema->fields[b->schema->count];
    b->understood = false;
    if (!FIXNUM_P(id) || FIX2LONG(id) < INT16_MIN || FIX2LONG(id) > INT16_MAX || !RB_TYPE_P(info, T_HASH))
        return ST_STOP;
    VALUE name = rb_hash_lookup(info, sym_name);
    if (!RB_TYPE_P(name, T_STRING) || RSTRING_LEN(name) == 0)
        return ST_STOP;
    memset(field, 0, sizeof(*field));
    field->type.klass = Qnil;
    field->id = (int16_t)FIX2LONG(id);
    field->slot = -1;
    field->name = name;
    field->default_value = Qnil;
    field->symbol = Qnil;
    field->enum_module = field->enum_values = Qnil;
    b->schema->count++;
    field->default_value = rb_hash_lookup(info, sym_default);
    field->ivar = rb_intern_str(rb_sprintf("@%" PRIsVALUE, name));
    field->symbol = rb_str_intern(name);
    if (!rb_is_instance_id(field->ivar) || !build_type(&field->type, info, NESTING))
        return ST_STOP;
    if (!NIL_P(field->default_value))
        b->schema->default_ids[b->schema->default_count++] = field->id;
    b->understood = true;
    return ST_CONTINUE;
}

static int by_id(const void *a, const void *b)
{
    return (int)((const tn_field *)a)->id - (int)((const tn_field *)b)->id;
}

/* Runs Ruby code. */
static void meet(tn_schema *schema)
{
    VALUE known = rb_funcall(fields_module, rb_intern("meet"), 1, schema->klass);
    schema->understood = !NIL_P(known);
    if (!schema->understood)
        return;
    schema->super = rb_class_get_superclass(schema->klass);
    schema->proven = NUM2UINT(rb_ary_entry(known, 0));
    tn_validate_take(schema, rb_ary_entry(known, 1));
}

static tn_schema *build(VALUE klass, VALUE fields_hash)
{
    tn_schema *schema;
    VALUE holder = TypedData_Make_Struct(box_class, tn_schema, &schema_type, schema);
    building b = {schema, true};
    schema->holder = holder;
    schema->fields_hash = fields_hash;
    schema->klass = schema->super = klass;
    schema->size = (long)RHASH_SIZE(fields_hash);
    schema->top_slot = -1;
    schema->fields = ALLOC_N(tn_field, RHASH_SIZE(fields_hash) + 1);
    schema->default_ids = ALLOC_N(int16_t, RHASH_SIZE(fields_hash) + 1);
    schema->is_union = RTEST(rb_class_inherited_p(klass, union_class));
    schema->is_exception = RTEST(rb_class_inherited_p(klass, rb_eException));
    rb_hash_foreach(fields_hash, build_field, (VALUE)&b);
    if (b.understood) {
        qsort(schema->fields, schema->count, sizeof(tn_field), by_id);
        for (long i = 0; i < schema->count && i < UINT8_MAX; i++) {
            if (schema->fields[i].id >= 0 && schema->fields[i].id < TN_DIRECT_IDS)
                schema->direct[schema->fields[i].id] = (uint8_t)(i + 1);
        }
        schema->unseen = schema->count;
        meet(schema);
    }
    VALUE before = rb_attr_get(klass, tn_id_hidden_schema);
    if (!NIL_P(before) && ((tn_schema *)RTYPEDDATA_DATA(before))->klass == klass)
        ((tn_schema *)RTYPEDDATA_DATA(before))->stale = true;
    rb_ivar_set(klass, tn_id_hidden_schema, holder);
    tn_schema_operation++; /* what types remember of the one before is void */
    RB_GC_GUARD(holder);
    return schema;
}

tn_schema *tn_schema_check(VALUE klass, tn_schema *schema)
{
    VALUE fields_hash = rb_const_get(klass, tn_id_FIELDS);
    if (TN_UNLIKELY(!schema || schema->klass != klass || schema->fields_hash != fields_hash ||
                    (long)RHASH_SIZE(fields_hash) != schema->size)) {
        if (!RB_TYPE_P(fields_hash, T_HASH) || RB_OBJ_FROZEN(klass))
            return NULL;
        schema = build(klass, fields_hash);
    }
    if (!schema->understood || !tn_schema_helpers_untouched())
        return NULL;
    schema->checked = tn_schema_operation;
    return schema;
}

tn_schema *tn_schema_of(VALUE klass)
{
    VALUE holder = rb_attr_get(klass, tn_id_hidden_schema);
    tn_schema *schema = NIL_P(holder) ? NULL : RTYPEDDATA_DATA(holder);
    bool known = schema && schema->checked == tn_schema_operation && schema->klass == klass;
    return TN_LIKELY(known) ? schema : tn_schema_check(klass, schema);
}

tn_schema *tn_schema_of_type(tn_type *type, VALUE klass)
{
    if (type->klass != klass)
        return tn_schema_of(klass);
    tn_schema *known = type->holder ? RTYPEDDATA_DATA(type->holder) : NULL;
    tn_schema *schema = known && !known->stale ? tn_schema_check(klass, known) : tn_schema_of(klass);
    if (schema) {
        type->holder = schema->holder;
        type->schema = schema;
        type->checked = schema->checked;
    }
    return schema;
}

/* Ext.struct_changed(klass): a method of this class, or of a subclass of one that we know, is another now. */
static VALUE ext_struct_changed(TN_UNUSED VALUE ext, VALUE klass)
{
    VALUE holder = rb_attr_get(klass, tn_id_hidden_schema);
    if (NIL_P(holder) || RB_OBJ_FROZEN(klass))
        return Qnil;
    tn_schema *schema = RTYPEDDATA_DATA(holder); /* it may be in use */
    schema->proven = 0;
    schema->stale = true;
    rb_ivar_set(klass, tn_id_hidden_schema, Qnil);
    tn_schema_operation++;
    return Qnil;
}

/* ---- defaults ---- */

static VALUE duplicate(VALUE value)
{
    return rb_obj_dup(value);
}

static VALUE keep(VALUE value, TN_UNUSED VALUE error)
{
    return value;
}

VALUE tn_schema_default_copy(const tn_field *field)
{
    VALUE value = field->default_value;
    if (RB_SPECIAL_CONST_P(value))
        return value;
    return rb_rescue2(duplicate, value, keep, value, rb_eStandardError, (VALUE)0);
}

void tn_schema_set_defaults(tn_schema *schema, VALUE object)
{
    VALUE holder = schema->holder; /* user code may give the class another schema */
    for (long i = 0; i < schema->default_count; i++) {
        tn_field *field = tn_schema_find(schema, schema->default_ids[i]);
        tn_field_set(object, schema, field, tn_schema_default_copy(field));
    }
    RB_GC_GUARD(holder);
}

bool tn_schema_initialize_known(const tn_schema *schema, VALUE object)
{
    return tn_schema_proves(schema, object, TN_PROVEN_INITIALIZE) && schema->struct_fields == TN_FIELDS_SAME;
}

/* ---- instance variables ----
 *
 * Up to Ruby 3.1 an object's instance variables lie in an array, at an index that its class gives out once and for
 * all. rb_ivar_get and rb_ivar_set look that index up in a hash each time; we keep it. Whether the layout is as we
 * believe is tried on an object when the extension is loaded; else, and on newer Rubies, the public functions do it. */

#ifdef TN_KNOWN_LAYOUT
enum { SLOT_BITS = 64 };

static enum { LAYOUT_UNKNOWN, INDEX_BEHIND_POINTER, INDEX_ITSELF } layout;

/* Objects with few instance variables hold them in place of a pointer to their class's table. Then the slot is where
 * the value is, if only one slot has it. */
static int32_t slot_by_value(VALUE object, VALUE value)
{
    int32_t slot = -1;
    for (int32_t i = 0; i < (int32_t)ROBJECT_NUMIV(object); i++) {
        if (ROBJECT_IVPTR(object)[i] == value) {
            if (slot >= 0)
                return -1;
            slot = i;
        }
    }
    return slot;
}

static int32_t slot_of(VALUE object, ID ivar, VALUE value)
{
    st_data_t found;
    if (RB_FL_ANY_RAW(object, ROBJECT_EMBED))
        return slot_by_value(object, value);
    struct st_table *table = ROBJECT(object)->as.heap.iv_index_tbl;
    if (!table || !st_lookup(table, (st_data_t)ivar, &found))
        return -1;
    return layout == INDEX_ITSELF ? (int32_t)found : (int32_t) * (const uint32_t *)found;
}

static bool layout_holds(VALUE object, const ID *ivars, const VALUE *values, int count)
{
    for (int i = 0; i < count; i++) {
        int32_t slot = slot_of(object, ivars[i], values[i]);
        if (slot < 0 || slot >= (int32_t)ROBJECT_NUMIV(object) || ROBJECT_IVPTR(object)[slot] != values[i])
            return false;
    }
    return true;
}

static void try_layout(void)
{
    enum { COUNT = 12 };
    ID ivars[COUNT];
    VALUE values[COUNT];
    VALUE object = rb_obj_alloc(rb_class_new(rb_cObject));
    for (int i = 0; i < COUNT; i++) {
        ivars[i] = rb_intern_str(rb_sprintf("@tn_probe_%d", i));
        values[i] = INT2FIX(1000 + i);
        rb_ivar_set(object, ivars[i], values[i]);
    }
    st_data_t first;
    if (RB_FL_ANY_RAW(object, ROBJECT_EMBED) || ROBJECT_NUMIV(object) < COUNT ||
        !ROBJECT(object)->as.heap.iv_index_tbl ||
        !st_lookup(ROBJECT(object)->as.heap.iv_index_tbl, (st_data_t)ivars[COUNT - 1], &first))
        return;
    layout = first == COUNT - 1 ? INDEX_ITSELF : INDEX_BEHIND_POINTER;
    if (!layout_holds(object, ivars, values, COUNT))
        layout = LAYOUT_UNKNOWN;
}

static void learn_slot(VALUE object, tn_schema *schema, tn_field *field, VALUE value)
{
    if (!layout || !RB_TYPE_P(object, T_OBJECT))
        return;
    int32_t slot = slot_of(object, field->ivar, value);
    if (slot < 0)
        return;
    if (field->slot < 0)
        schema->unseen--;
    field->slot = slot;
    if (slot < SLOT_BITS)
        schema->known_slots |= (uint64_t)1 << slot;
    if (slot > schema->top_slot)
        schema->top_slot = slot;
}

bool tn_field_others_set(VALUE object, const tn_schema *schema)
{
    if (schema->unseen == 0)
        return false;
    if (RB_BUILTIN_TYPE(object) != T_OBJECT || ROBJECT_NUMIV(object) > SLOT_BITS)
        return true;
    const VALUE *values = ROBJECT_IVPTR(object);
    for (uint32_t i = 0; i < (uint32_t)ROBJECT_NUMIV(object); i++) {
        if (values[i] != Qundef && values[i] != Qnil && !(schema->known_slots >> i & 1))
            return true;
    }
    return false;
}

VALUE tn_field_get_slow(VALUE object, tn_schema *schema, tn_field *field)
{
    VALUE value = rb_attr_get(object, field->ivar);
    if (!NIL_P(value))
        learn_slot(object, schema, field, value);
    return value;
}

void tn_field_set_slow(VALUE object, tn_schema *schema, tn_field *field, VALUE value)
{
    rb_ivar_set(object, field->ivar, value);
    learn_slot(object, schema, field, value);
}

void tn_field_prepare(VALUE object, tn_schema *schema)
{
    if (schema->top_slot < 0 || RB_BUILTIN_TYPE(object) != T_OBJECT ||
        schema->top_slot < (int32_t)ROBJECT_NUMIV(object))
        return;
    for (long i = schema->count - 1; i >= 0; i--) {
        tn_field *field = &schema->fields[i];
        if (field->slot == schema->top_slot) {
            rb_ivar_set(object, field->ivar, Qnil);
            ROBJECT_IVPTR(object)[field->slot] = Qundef; /* unset again; the room stays */
            return;
        }
    }
}
#else
static void try_layout(void)
{
}

void tn_field_prepare(VALUE object, tn_schema *schema)
{
}
#endif

static VALUE static_symbol(const char *name)
{
    return ID2SYM(rb_intern(name));
}

void tn_schema_init(VALUE ext)
{
    box_class = rb_class_new(rb_cObject);
    rb_gc_register_mark_object(box_class);
    rb_undef_alloc_func(box_class);
    union_class = rb_path2class("Thrift::Union");
    rb_gc_register_mark_object(union_class);
    rb_define_module_function(ext, "struct_changed", ext_struct_changed, 1);
    fields_module = rb_path2class("Thrift::Native::Fields");
    rb_gc_register_mark_object(fields_module);
    sym_type = static_symbol("type");
    sym_name = static_symbol("name");
    sym_class = static_symbol("class");
    sym_key = static_symbol("key");
    sym_value = static_symbol("value");
    sym_element = static_symbol("element");
    sym_binary = static_symbol("binary");
    sym_default = static_symbol("default");
    try_layout();
}
