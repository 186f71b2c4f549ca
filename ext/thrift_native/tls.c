/* SPDX-License-Identifier: Apache-2.0 */
#include "tls.h"
#include "tls_library.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

enum { RECORD = 16384 }; /* RFC 8446, section 5.1 */

static ID id_context_quiet, id_callback_state, id_io, id_rbuffer, id_wbuffer;
static ID id_read_nonblock, id_sysread_nonblock, id_write_nonblock, id_syswrite_nonblock;
static VALUE sym_wait_readable, sym_wait_writable;
static VALUE without_exceptions; /* {exception: false} */

/* ---- may SSL_read and SSL_write be called? ---- */

/* Ruby that runs inside SSL_read or SSL_write switches threads while OpenSSL holds our buffer. */
static bool learn_quiet(VALUE ssl)
{
    VALUE quiet = tn_tls_quiet_p(ssl) && tn_tls_nonblocking(rb_attr_get(ssl, id_io)) ? Qtrue : Qfalse;
    if (!OBJ_FROZEN(ssl))
        rb_ivar_set(ssl, id_context_quiet, quiet);
    return RTEST(quiet);
}

static bool quiet_p(VALUE ssl)
{
    VALUE known = rb_attr_get(ssl, id_context_quiet);
    return NIL_P(known) ? learn_quiet(ssl) : RTEST(known);
}

/* Bytes that a program put or left in SSLSocket's own buffer go first. */
static bool buffered_p(VALUE ssl, ID buffer)
{
    VALUE string = rb_attr_get(ssl, buffer);
    return RB_TYPE_P(string, T_STRING) && RSTRING_LEN(string) > 0;
}

/* NULL: leave it to SSLSocket's methods, which also know what to raise for a closed one or one without a session. */
static tn_ssl *direct(const tn_tls_library *library, VALUE ssl, ID buffer)
{
    tn_ssl *pointer = library ? tn_tls_ssl_of(library, ssl) : NULL;
    if (!pointer || !library->SSL_get_rbio(pointer) || !tn_tls_io_open_p(rb_attr_get(ssl, id_io)))
        return NULL;
    return buffered_p(ssl, buffer) || !quiet_p(ssl) ? NULL : pointer;
}

/* ---- the Ruby API ---- */

typedef struct {
    VALUE ssl;
    VALUE argument;
    ID method;
} ruby_call;

static VALUE call_nonblock(VALUE argument)
{
    const ruby_call *call = (const ruby_call *)argument;
    VALUE arguments[] = {call->argument, without_exceptions};
    return rb_funcallv_kw(call->ssl, call->method, 2, arguments, RB_PASS_KEYWORDS);
}

/* Qundef, and the exception, for a StandardError; everything else (kill, throw, Interrupt) goes on its way. */
static VALUE settle(VALUE result, int state, VALUE before, VALUE *error)
{
    if (!state)
        return result;
    VALUE raised = rb_errinfo();
    if (!RB_TYPE_P(raised, T_OBJECT) || !RTEST(rb_obj_is_kind_of(raised, rb_eStandardError)))
        rb_jump_tag(state);
    rb_set_errinfo(before);
    *error = raised;
    return Qundef;
}

static long code_of(VALUE result)
{
    if (result == sym_wait_readable)
        return TN_TLS_WANT_READ;
    if (result == sym_wait_writable)
        return TN_TLS_WANT_WRITE;
    return NIL_P(result) ? TN_TLS_EOF : TN_TLS_ERROR;
}

static VALUE call_ruby(VALUE ssl, ID method, VALUE argument, VALUE *error)
{
    ruby_call call = {ssl, argument, method};
    int state = 0;
    VALUE before = rb_errinfo();
    VALUE result = rb_protect(call_nonblock, (VALUE)&call, &state);
    return settle(result, state, before, error);
}

static long read_through_ruby(VALUE ssl, char *buffer, long cap, VALUE *error)
{
    bool plain = tn_tls_methods_untouched() && !buffered_p(ssl, id_rbuffer);
    VALUE result = call_ruby(ssl, plain ? id_sysread_nonblock : id_read_nonblock, LONG2NUM(cap), error);
    if (!RB_TYPE_P(result, T_STRING))
        return result == Qundef ? TN_TLS_ERROR : code_of(result);
    long length = RSTRING_LEN(result) < cap ? RSTRING_LEN(result) : cap;
    memcpy(buffer, RSTRING_PTR(result), length);
    RB_GC_GUARD(result);
    return length;
}

static long write_through_ruby(VALUE ssl, const char *buffer, long length, VALUE *error)
{
    VALUE bytes = rb_str_new(buffer, length < RECORD ? length : RECORD); /* no more is taken at once anyway */
    bool plain = tn_tls_methods_untouched() && !buffered_p(ssl, id_wbuffer);
    long most = RSTRING_LEN(bytes);
    VALUE result = call_ruby(ssl, plain ? id_syswrite_nonblock : id_write_nonblock, bytes, error);
    if (FIXNUM_P(result))
        return FIX2LONG(result) < most ? FIX2LONG(result) : most;
    return result == Qundef ? TN_TLS_ERROR : code_of(result);
}

/* ---- failures of SSL_read and SSL_write ---- */

/* A callback raised inside OpenSSL. openssl.so caught that, and from 3.3 on raises it again after a read or write. */
static bool raised_in_callback(const tn_tls_library *library, VALUE ssl, VALUE *error)
{
    VALUE state = rb_attr_get(ssl, id_callback_state);
    if (!FIXNUM_P(state) || library->gem_version < 303)
        return false;
    rb_ivar_set(ssl, id_callback_state, Qnil);
    settle(Qnil, FIX2INT(state), Qnil, error);
    return true;
}

/* What SSLSocket#sysread_nonblock and #syswrite_nonblock make of it, in every version of the gem: an end without
 * close_notify is an end of file as long as OpenSSL itself doesn't call it an error, which OpenSSL 3 does. */
static long failed(const tn_tls_library *library, VALUE ssl, const tn_tls_failure *failure, bool reading, VALUE *error)
{
    if (failure->code == TN_SSL_ERROR_WANT_READ)
        return TN_TLS_WANT_READ;
    if (failure->code == TN_SSL_ERROR_WANT_WRITE)
        return TN_TLS_WANT_WRITE;
    if (raised_in_callback(library, ssl, error))
        return TN_TLS_ERROR;
    if (failure->code == TN_SSL_ERROR_ZERO_RETURN && reading)
        return TN_TLS_EOF;
    if (failure->code == TN_SSL_ERROR_SYSCALL && !(reading && failure->queued)) {
        if (failure->number) {
            *error = rb_syserr_new(failure->number, NULL);
            return TN_TLS_ERROR;
        }
        if (reading)
            return TN_TLS_EOF;
    }
    *error = tn_tls_failure_exception(library, failure, rb_str_new_cstr(reading ? "SSL_read" : "SSL_write"));
    return TN_TLS_ERROR;
}

static int clamp(long length)
{
    return length > INT_MAX ? INT_MAX : (int)length;
}

/* ---- the interface ---- */

long tn_tls_read(VALUE ssl, char *buffer, long cap, VALUE *error)
{
    tn_tls_failure failure;
    const tn_tls_library *library = tn_tls_library_get();
    tn_ssl *pointer = direct(library, ssl, id_rbuffer);
    if (TN_UNLIKELY(!pointer))
        return read_through_ruby(ssl, buffer, cap, error);
    library->ERR_clear_error(); /* left by somebody else, it would be taken for ours */
    errno = 0;
    int count = library->SSL_read(pointer, buffer, clamp(cap));
    if (TN_LIKELY(count > 0))
        return count;
    tn_tls_failure_take(library, pointer, count, &failure);
    return failed(library, ssl, &failure, true, error);
}

long tn_tls_write(VALUE ssl, const char *buffer, long length, VALUE *error)
{
    tn_tls_failure failure;
    const tn_tls_library *library = tn_tls_library_get();
    tn_ssl *pointer = direct(library, ssl, id_wbuffer);
    /* In a renegotiation SSL_write shakes hands first, and that may run Ruby: then it gets a String of its own. */
    if (TN_UNLIKELY(!pointer || library->SSL_in_init(pointer) || library->SSL_renegotiate_pending(pointer)))
        return write_through_ruby(ssl, buffer, length, error);
    library->ERR_clear_error();
    errno = 0;
    int count = library->SSL_write(pointer, buffer, clamp(length));
    if (TN_LIKELY(count > 0))
        return count;
    tn_tls_failure_take(library, pointer, count, &failure);
    return failed(library, ssl, &failure, false, error);
}

/* Ext.tls_status -> "direct", or why TLS goes through SSLSocket's methods */
static VALUE ext_tls_status(TN_UNUSED VALUE ext)
{
    return tn_tls_status();
}

void tn_tls_init(VALUE ext)
{
    id_context_quiet = rb_intern("__tn_tls_quiet");
    id_callback_state = rb_intern("callback_state"); /* openssl.so's; an instance variable without @ */
    id_io = rb_intern("@io");
    id_rbuffer = rb_intern("@rbuffer");
    id_wbuffer = rb_intern("@wbuffer");
    id_read_nonblock = rb_intern("read_nonblock");
    id_sysread_nonblock = rb_intern("sysread_nonblock");
    id_write_nonblock = rb_intern("write_nonblock");
    id_syswrite_nonblock = rb_intern("syswrite_nonblock");
    sym_wait_readable = ID2SYM(rb_intern("wait_readable"));
    sym_wait_writable = ID2SYM(rb_intern("wait_writable"));
    without_exceptions = rb_hash_new();
    rb_hash_aset(without_exceptions, ID2SYM(rb_intern("exception")), Qfalse);
    rb_obj_freeze(without_exceptions);
    rb_gc_register_mark_object(without_exceptions);
    rb_define_module_function(ext, "tls_status", ext_tls_status, 0);
    tn_tls_handshake_init(ext);
}
