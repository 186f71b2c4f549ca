/* SPDX-License-Identifier: Apache-2.0
 * The server's handshake. Its private key operation takes milliseconds (RSA), so it runs without the VM lock where
 * nothing in it runs Ruby.
 *
 * Why several threads may do that at once, with one SSLContext: each works on an SSL of its own, which OpenSSL (since
 * 1.1.0) allows. What the SSLs share is reference counted atomically (SSL_CTX, certificates, keys) or has its lock
 * (session cache, the blinding of RSA keys, certificate stores), and is otherwise written only by SSLContext#setup,
 * which freezes the context and has run before SSLSocket.new returns. Session tickets are made with keys that are set
 * once. The error queue belongs to the native thread: see tn_tls_failure_take.
 *
 * Why nobody else touches that SSL meanwhile: for the time of a step its pointer is taken out of the SSLSocket, which
 * then answers "SSL is not initialized" instead of working on it from another thread, and (where Ruby offers that) its
 * IO is marked as in use, so that IO#close in another thread waits for the step before it gives the descriptor away. */
#include "tls.h"
#include "tls_library.h"
#include "wait.h"

#include <errno.h>
#include <pthread.h>
#include <ruby/version.h>
#include <string.h>

typedef struct {
    const tn_tls_library *library;
    tn_ssl *ssl;
    VALUE socket;
    VALUE io;
    bool ran;
    int result; /* of SSL_accept */
    tn_tls_failure failure;
    VALUE dh_key; /* kept alive until the step is over */
    int dh_state;
} step;

static ID id_accept_nonblock, id_call, id_callback_state, id_cert_store, id_context, id_inspect_sockaddr, id_io;
static ID id_remote_address, id_tmp_dh_callback, id_verify_callback, id_verify_mode;
static VALUE sym_wait_readable, sym_wait_writable, without_exceptions;

/* ---- fork ---- */

/* A fork in the middle of another thread's step would leave the child with OpenSSL's locks held by nobody. The forking
 * thread waits for the steps under way, which need no VM lock to come to their end. */
static struct {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int running;
    bool forking;
} gate = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, false};

static void gate_enter(void)
{
    pthread_mutex_lock(&gate.mutex);
    while (gate.forking)
        pthread_cond_wait(&gate.changed, &gate.mutex);
    gate.running++;
    pthread_mutex_unlock(&gate.mutex);
}

static void gate_leave(void)
{
    pthread_mutex_lock(&gate.mutex);
    if (--gate.running == 0)
        pthread_cond_broadcast(&gate.changed);
    pthread_mutex_unlock(&gate.mutex);
}

static void before_fork(void)
{
    pthread_mutex_lock(&gate.mutex);
    gate.forking = true;
    while (gate.running > 0)
        pthread_cond_wait(&gate.changed, &gate.mutex);
}

static void after_fork_in_parent(void)
{
    gate.forking = false;
    pthread_cond_broadcast(&gate.changed);
    pthread_mutex_unlock(&gate.mutex);
}

static void after_fork_in_child(void)
{
    pthread_mutex_init(&gate.mutex, NULL);
    pthread_cond_init(&gate.changed, NULL);
    gate.forking = false;
}

/* ---- DH parameters ---- */

/* Before openssl 4.0, openssl.so installs a callback that asks the SSLSocket for DH parameters, though nearly always
 * for constant ones: a client that offers nothing but DHE makes OpenSSL run Ruby. This one takes its place on the SSLs
 * that we shake hands for, and takes the VM lock. */

static __thread step *unlocked_step; /* NULL: this thread holds the VM lock */

typedef struct {
    VALUE socket;
    int is_export;
    int key_length;
    VALUE key;
    int state;
} dh_request;

static VALUE dh_ask(VALUE argument)
{
    dh_request *request = (dh_request *)argument;
    VALUE callback = rb_funcall(request->socket, id_tmp_dh_callback, 0);
    if (NIL_P(callback))
        return Qnil;
    VALUE key =
        rb_funcall(callback, id_call, 3, request->socket, INT2NUM(request->is_export), INT2NUM(request->key_length));
    if (!RB_TYPE_P(key, T_DATA) || !RTYPEDDATA_P(key) ||
        strcmp(RTYPEDDATA_TYPE(key)->wrap_struct_name, "OpenSSL/EVP_PKEY") != 0)
        rb_raise(rb_eTypeError, "tmp_dh_callback must return an OpenSSL::PKey::DH");
    request->key = key;
    return Qnil;
}

static void *dh_ask_protected(void *argument)
{
    dh_request *request = argument;
    rb_protect(dh_ask, (VALUE)request, &request->state);
    return NULL;
}

static void dh_ask_from(step *unlocked, dh_request *request)
{
    if (!unlocked) { /* a renegotiation, in SSL_read */
        dh_ask_protected(request);
        if (request->state)
            rb_ivar_set(request->socket, id_callback_state, INT2NUM(request->state));
        return;
    }
    gate_leave(); /* OpenSSL holds none of its locks here, and a thread that forks may hold the VM lock */
    unlocked_step = NULL;
    rb_thread_call_with_gvl(dh_ask_protected, request);
    unlocked_step = unlocked;
    gate_enter();
    unlocked->dh_key = request->key;
    unlocked->dh_state = request->state;
}

static void *dh_callback(tn_ssl *ssl, int is_export, int key_length)
{
    const tn_tls_library *library = tn_tls_library_get();
    VALUE socket = (VALUE)library->SSL_get_ex_data(ssl, library->self_index);
    dh_request request = {socket, is_export, key_length, Qnil, 0};
    dh_ask_from(unlocked_step, &request);
    if (request.state || NIL_P(request.key))
        return NULL;
    return (void *)library->EVP_PKEY_get0_DH(RTYPEDDATA(request.key)->data);
}

/* ---- may it run without the lock? ---- */

/* A server checks its own chain against the context's store before it sends it, with the store's callback. */
static bool quiet_store_p(VALUE context)
{
    VALUE store = rb_attr_get(context, id_cert_store);
    return NIL_P(store) || NIL_P(rb_attr_get(store, id_verify_callback));
}

static bool runs_no_ruby_p(VALUE socket)
{
    if (!tn_tls_quiet_p(socket))
        return false;
    VALUE context = rb_attr_get(socket, id_context);
    VALUE mode = rb_attr_get(context, id_verify_mode);
    return (NIL_P(mode) || mode == INT2FIX(0)) && quiet_store_p(context);
}

static bool prepare(step *s)
{
    const tn_tls_library *library = s->library = tn_tls_library_get();
    s->ssl = library ? tn_tls_ssl_of(library, s->socket) : NULL;
    if (!s->ssl || !tn_tls_io_open_p(s->io) || !runs_no_ruby_p(s->socket))
        return false;
    if (library->SSL_get_info_callback(s->ssl) != library->info_callback)
        return false;
    if (library->asks_for_dh && !(library->SSL_set_tmp_dh_callback && library->EVP_PKEY_get0_DH))
        return false;
    if (!tn_tls_nonblocking(s->io))
        return false;
    return library->SSL_get_rbio(s->ssl) || library->SSL_set_fd(s->ssl, rb_io_descriptor(s->io)) == 1;
}

/* ---- one step ---- */

static VALUE shake(void *argument)
{
    step *s = argument;
    gate_enter();
    unlocked_step = s;
    s->library->ERR_clear_error();
    errno = 0;
    s->result = s->library->SSL_accept(s->ssl);
    if (s->result <= 0)
        tn_tls_failure_take(s->library, s->ssl, s->result, &s->failure);
    unlocked_step = NULL;
    s->ran = true;
    gate_leave();
    return Qnil;
}

#if defined(HAVE_RB_IO_BLOCKING_REGION) /* Ruby 4.0 */
static VALUE unlock_and_shake(VALUE argument)
{
    step *s = (step *)argument;
    rb_io_t *file;
    GetOpenFile(s->io, file);
    return rb_io_blocking_region(file, shake, s);
}
#elif defined(HAVE_RB_THREAD_IO_BLOCKING_REGION) && RUBY_API_VERSION_CODE < 30400 /* its arguments change after 3.3 */
VALUE rb_thread_io_blocking_region(VALUE (*)(void *), void *, int);

static VALUE unlock_and_shake(VALUE argument)
{
    step *s = (step *)argument;
    return rb_thread_io_blocking_region(shake, s, rb_io_descriptor(s->io));
}
#else
#define NO_REGION
static void *shake_without_region(void *argument)
{
    shake(argument);
    return NULL;
}

static VALUE unlock_and_shake(VALUE argument)
{
    rb_thread_call_without_gvl(shake_without_region, (void *)argument, NULL, NULL);
    return Qnil;
}
#endif

#ifdef NO_REGION
const bool tn_tls_holds_io = false;
#else
const bool tn_tls_holds_io = true;
#endif

bool tn_tls_at_work(VALUE ssl)
{
    return RB_TYPE_P(ssl, T_DATA) && RTYPEDDATA_P(ssl) && !RTYPEDDATA_DATA(ssl);
}

/* A Thread#raise, Thread#kill or IO#close that arrives meanwhile comes out of here when all is back in its place. */
static void take_step(step *s)
{
    const tn_tls_library *library = s->library;
    struct RTypedData *data = RTYPEDDATA(s->socket);
    int state = 0;
    s->ran = false;
    s->dh_state = 0;
    library->SSL_set_info_callback(s->ssl, NULL); /* it looks for renegotiation_cb in Ruby's objects */
    if (library->asks_for_dh)
        library->SSL_set_tmp_dh_callback(s->ssl, dh_callback);
    data->data = NULL;
    rb_protect(unlock_and_shake, (VALUE)s, &state);
    data->data = s->ssl;
    library->SSL_set_info_callback(s->ssl, library->info_callback);
    if (state)
        rb_jump_tag(state);
    if (s->dh_state)
        rb_jump_tag(s->dh_state);
}

/* ---- failures ---- */

static VALUE peer_address(VALUE io)
{
    return rb_funcall(rb_funcall(io, id_remote_address, 0), id_inspect_sockaddr, 0);
}

static VALUE no_address(TN_UNUSED VALUE unused, TN_UNUSED VALUE error)
{
    return rb_str_new_cstr("(null)");
}

NORETURN(static void fail(const step *s));
static void fail(const step *s)
{
    const tn_tls_failure *failure = &s->failure;
    bool system_call = failure->code == TN_SSL_ERROR_SYSCALL;
    if (system_call && failure->number)
        rb_exc_raise(rb_syserr_new(failure->number, "SSL_accept"));
    VALUE what =
        rb_sprintf("SSL_accept%s returned=%d errno=%d", system_call ? " SYSCALL" : "", failure->code, failure->number);
    if (s->library->gem_version >= 300) {
        rb_str_cat_cstr(what, " peeraddr=");
        rb_str_append(what, rb_rescue2(peer_address, s->io, no_address, Qnil, rb_eSystemCallError, (VALUE)0));
    }
    rb_str_catf(what, " state=%s", failure->state);
    rb_exc_raise(tn_tls_failure_exception(s->library, failure, what));
}

/* ---- the whole ---- */

/* 0 when it is done, or what to wait for. */
static int step_without_lock(step *s)
{
    do {
        take_step(s);
    } while (!s->ran);
    if (s->result > 0)
        return 0;
    if (s->failure.code == TN_SSL_ERROR_WANT_READ)
        return RUBY_IO_READABLE;
    if (s->failure.code == TN_SSL_ERROR_WANT_WRITE)
        return RUBY_IO_WRITABLE;
    fail(s);
}

static int step_through_ruby(VALUE socket)
{
    VALUE result = rb_funcallv_kw(socket, id_accept_nonblock, 1, &without_exceptions, RB_PASS_KEYWORDS);
    if (result == sym_wait_readable)
        return RUBY_IO_READABLE;
    return result == sym_wait_writable ? RUBY_IO_WRITABLE : 0;
}

void tn_tls_handshake(VALUE ssl, double timeout)
{
    step s = {.socket = ssl, .io = rb_attr_get(ssl, id_io), .dh_key = Qnil};
    tn_deadline deadline = tn_deadline_in(timeout);
    int events;
    /* Looked at before each step: the program may have closed it while we waited. */
    while ((events = prepare(&s) ? step_without_lock(&s) : step_through_ruby(ssl)) != 0) {
        if (!tn_wait(s.io, events, deadline))
            rb_raise(rb_path2class("OpenSSL::SSL::SSLError"), "SSL server socket: Timed out accepting TLS connection");
    }
    RB_GC_GUARD(ssl);
    RB_GC_GUARD(s.dh_key);
}

/* Ext.handshake(ssl_socket, timeout) -> ssl_socket. Shakes hands now, on the server's side, within `timeout` seconds
 * (nil: no limit). Raises what SSLSocket#accept raises, and OpenSSL::SSL::SSLError when time is up. */
static VALUE ext_handshake(TN_UNUSED VALUE ext, VALUE ssl, VALUE timeout)
{
    double seconds = NIL_P(timeout) ? 0 : NUM2DBL(timeout);
    tn_conn *conn = tn_conn_of(ssl);
    if (conn)
        conn->handshake_pending = false; /* whoever reads next must not shake hands again */
    tn_tls_handshake(ssl, seconds);
    return ssl;
}

void tn_tls_handshake_init(VALUE ext)
{
    id_accept_nonblock = rb_intern("accept_nonblock");
    id_callback_state = rb_intern("callback_state");
    id_call = rb_intern("call");
    id_cert_store = rb_intern("@cert_store");
    id_context = rb_intern("@context");
    id_inspect_sockaddr = rb_intern("inspect_sockaddr");
    id_io = rb_intern("@io");
    id_remote_address = rb_intern("remote_address");
    id_tmp_dh_callback = rb_intern("tmp_dh_callback");
    id_verify_callback = rb_intern("@verify_callback");
    id_verify_mode = rb_intern("@verify_mode");
    sym_wait_readable = ID2SYM(rb_intern("wait_readable"));
    sym_wait_writable = ID2SYM(rb_intern("wait_writable"));
    without_exceptions = rb_hash_new();
    rb_hash_aset(without_exceptions, ID2SYM(rb_intern("exception")), Qfalse);
    rb_obj_freeze(without_exceptions);
    rb_gc_register_mark_object(without_exceptions);
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    rb_define_module_function(ext, "handshake", ext_handshake, 2);
}
