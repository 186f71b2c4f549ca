/* SPDX-License-Identifier: Apache-2.0
 * Thrift::MemoryBufferTransport: @buf is written at its end and read at @index. */
#include "memory.h"
#include "errors.h"
#include "exact.h"
#include "refill.h"
#include "stock.h"
#include "window.h"

#include <string.h>

enum { GARBAGE = 4096 }; /* bytes read before the front of @buf is dropped, as the thrift gem does */

/* False if the stock method has to do it. */
static bool window_of(VALUE self, tn_window *window)
{
    return tn_exact_p(self, TN_MEMORY) && tn_exact_window(self, TN_MEMORY, tn_id_iv_buf, window);
}

static void advance(VALUE self, const tn_window *window, long size)
{
    long index = window->index + size, length = RSTRING_LEN(window->bytes);
    if (index > length)
        index = length;
    if (TN_UNLIKELY(index >= GARBAGE))
        tn_window_reset(self, tn_id_iv_buf, rb_str_subseq(window->bytes, index, length - index));
    else
        tn_window_seek(self, TN_MEMORY, index);
}

NORETURN(static void raise_end(void));
static void raise_end(void)
{
    rb_raise(rb_eEOFError, "Not enough bytes remain in memory buffer");
}

static VALUE take(VALUE self, const tn_window *window, long size)
{
    VALUE bytes = tn_window_bytes(window, size);
    advance(self, window, size);
    return bytes;
}

/* The thrift gem reads from the caller's own String, and writes to it; since 0.25 from a copy. */
static bool copies;

static VALUE first_buffer(VALUE given)
{
    if (!RTEST(given))
        return rb_str_new(NULL, 0);
    return tn_force_binary(copies ? rb_str_dup(given) : given);
}

/* MemoryBufferTransport.new(buffer = nil) */
static VALUE memory_initialize(int argc, VALUE *argv, VALUE self)
{
    VALUE given = argc > 0 ? argv[0] : Qnil;
    bool plain = !RTEST(given) || (!RB_SPECIAL_CONST_P(given) && RBASIC_CLASS(given) == rb_cString);
    if (argc > 1 || !plain || !tn_exact_p(self, TN_MEMORY))
        return tn_stock(self, tn_id_stock_initialize, argc, argv);
    tn_ivar_set(self, TN_MEMORY, TN_RBUF, tn_id_iv_buf, first_buffer(given));
    tn_ivar_set_long(self, TN_MEMORY, TN_INDEX, tn_id_iv_index, 0);
    return Qnil;
}

/* memory.read(size) -> String of exactly size bytes. EOFError if there are fewer; they are used up all the same. */
static VALUE memory_read(VALUE self, VALUE size)
{
    tn_window window;
    if (!FIXNUM_P(size) || !window_of(self, &window))
        return tn_stock(self, tn_id_stock_read, 1, &size);
    long wanted = FIX2LONG(size);
    if (wanted < 0)
        tn_raise_negative_size();
    if (wanted <= window.unread)
        return take(self, &window, wanted);
    advance(self, &window, window.unread);
    raise_end();
}

/* memory.read_all(size) -> String of exactly size bytes. EOFError if there are fewer; they stay. */
static VALUE memory_read_all(VALUE self, VALUE size)
{
    tn_window window;
    if (!FIXNUM_P(size) || !window_of(self, &window))
        return tn_stock_or_super(self, tn_id_stock_read_all, 1, &size);
    long wanted = FIX2LONG(size);
    if (wanted < 0)
        tn_raise_negative_size();
    if (wanted > window.unread)
        raise_end();
    return take(self, &window, wanted);
}

/* memory.read_byte -> Integer, 0 to 255 */
static VALUE memory_read_byte(VALUE self)
{
    tn_window window;
    if (!window_of(self, &window))
        return tn_stock(self, tn_id_stock_read_byte, 0, NULL);
    if (window.unread == 0)
        raise_end();
    int byte = tn_window_byte(&window);
    advance(self, &window, 1);
    return INT2FIX(byte);
}

/* memory.read_into_buffer(buffer, size) -> Integer, size. EOFError if there are fewer bytes. */
static VALUE memory_read_into_buffer(VALUE self, VALUE buffer, VALUE size)
{
    VALUE arguments[2] = {buffer, size};
    tn_window window;
    if (!FIXNUM_P(size) || !RB_TYPE_P(buffer, T_STRING) || !window_of(self, &window) || buffer == window.bytes ||
        RSTRING_LEN(buffer) < FIX2LONG(size) || window.unread < FIX2LONG(size) || FIX2LONG(size) <= 0)
        return tn_stock(self, tn_id_stock_read_into_buffer, 2, arguments);
    rb_str_modify(buffer); /* raises FrozenError, where older thrifts write into a frozen String */
    memcpy(RSTRING_PTR(buffer), RSTRING_PTR(window.bytes) + window.index, FIX2LONG(size));
    advance(self, &window, FIX2LONG(size));
    return size;
}

/* memory.write(bytes) */
static VALUE memory_write(VALUE self, VALUE bytes)
{
    if (!tn_exact_p(self, TN_MEMORY) || !RB_TYPE_P(bytes, T_STRING))
        return tn_stock(self, tn_id_stock_write, 1, &bytes);
    VALUE buf = tn_ivar(self, TN_MEMORY, TN_RBUF, tn_id_iv_buf);
    if (!tn_mutable_string_p(buf))
        return tn_stock(self, tn_id_stock_write, 1, &bytes);
    tn_append(buf, tn_force_binary(bytes));
    return Qnil;
}

void tn_memory_raise_end(TN_UNUSED VALUE memory)
{
    raise_end();
}

void tn_memory_init(VALUE ext)
{
    VALUE impl = rb_define_module_under(ext, "MemoryBufferTransport");
    rb_define_private_method(impl, "initialize", memory_initialize, -1);
    rb_define_method(impl, "read", memory_read, 1);
    rb_define_method(impl, "read_all", memory_read_all, 1);
    rb_define_method(impl, "read_byte", memory_read_byte, 0);
    rb_define_method(impl, "read_into_buffer", memory_read_into_buffer, 2);
    rb_define_method(impl, "write", memory_write, 1);
    VALUE given = rb_str_new_cstr("x");
    VALUE probe = tn_try_new(tn_thrift_class("MemoryBufferTransport"), given);
    copies = !NIL_P(probe) && rb_attr_get(probe, tn_id_iv_buf) != given;
}
