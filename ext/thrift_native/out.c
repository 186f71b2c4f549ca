/* SPDX-License-Identifier: Apache-2.0 */
#include "out.h"

enum { FIRST = 1024, SMALL = 1 << 15 }; /* bytes; what is larger is written to the String that it becomes */

typedef struct {
    char *memory;
    size_t capacity;
} memory_block;

static VALUE box_class;
static VALUE idle; /* the block for the next message, or 0 while it is in use */

static void block_free(void *data)
{
    memory_block *block = data;
    xfree(block->memory);
    xfree(block);
}

static size_t block_size(const void *data)
{
    return sizeof(memory_block) + ((const memory_block *)data)->capacity;
}

static const rb_data_type_t block_type = {
    .wrap_struct_name = "Thrift::Native message",
    .function = {.dmark = NULL, .dfree = block_free, .dsize = block_size},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED,
};

static void resize(memory_block *block, size_t capacity)
{
    block->memory = xrealloc(block->memory, capacity);
    block->capacity = capacity;
}

static VALUE new_block(void)
{
    memory_block *block;
    VALUE holder = TypedData_Make_Struct(box_class, memory_block, &block_type, block);
    resize(block, FIRST);
    return holder;
}

static memory_block *block_of(const tn_out *out)
{
    return RTYPEDDATA_DATA(out->holder);
}

void tn_out_begin(tn_out *out, VALUE protocol)
{
    out->protocol = protocol;
    out->string = 0;
    VALUE holder = idle;
    idle = 0; /* taken: a message that is written while this one is gets a block of its own */
    out->holder = holder ? holder : new_block();
    memory_block *block = block_of(out);
    out->base = out->p = block->memory;
    out->end = out->base + block->capacity;
}

VALUE tn_out_take(tn_out *out)
{
    if (!out->string)
        return rb_str_new(out->base, tn_out_length(out));
    VALUE string = out->string;
    out->string = 0;
    rb_str_set_len(string, tn_out_length(out));
    rb_str_resize(string, tn_out_length(out)); /* gives back what wasn't needed */
    return rb_obj_reveal(string, rb_cString);
}

void tn_out_end(tn_out *out)
{
    if (out->string)
        rb_str_resize(out->string, 0); /* frees it at once */
    idle = out->holder;
}

static void grow_block(tn_out *out, size_t capacity)
{
    size_t length = (size_t)tn_out_length(out);
    memory_block *block = block_of(out);
    resize(block, capacity);
    out->base = block->memory;
    out->p = out->base + length;
    out->end = out->base + capacity;
}

static void grow_string(tn_out *out, size_t capacity)
{
    size_t length = (size_t)tn_out_length(out);
    if (out->string) {
        rb_str_set_len(out->string, (long)length);
        rb_str_modify_expand(out->string, (long)(capacity - length));
    } else {
        out->string = rb_obj_hide(rb_str_buf_new((long)capacity)); /* also from ObjectSpace: it's half written */
        memcpy(RSTRING_PTR(out->string), out->base, length);
    }
    out->base = RSTRING_PTR(out->string);
    out->p = out->base + length;
    out->end = out->base + capacity;
}

void tn_out_grow(tn_out *out, size_t room)
{
    size_t capacity = (size_t)(out->end - out->base) * 2, needed = (size_t)tn_out_length(out) + room;
    if (capacity < needed)
        capacity = needed;
    if (capacity <= SMALL)
        grow_block(out, capacity);
    else
        grow_string(out, capacity);
}

void tn_out_init(void)
{
    box_class = rb_class_new(rb_cObject);
    rb_gc_register_mark_object(box_class);
    rb_undef_alloc_func(box_class);
    rb_gc_register_address(&idle);
}
