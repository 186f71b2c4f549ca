/* SPDX-License-Identifier: Apache-2.0 */
#include "tls_library.h"
#include "tls.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(HAVE_DLFCN_H) && defined(HAVE_DLADDR)
#include <dlfcn.h>
#endif

static tn_tls_library library;
static enum { UNDECIDED, DIRECT, INDIRECT } decision;
static bool untouched;                          /* SSLSocket's methods are openssl's own */
static char why[160] = "openssl is not loaded"; /* not DIRECT, because */

/* ---- finding ---- */

static bool because(const char *reason, const char *detail)
{
    snprintf(why, sizeof(why), "%s%s", reason, detail);
    return false;
}

#ifdef RTLD_NOLOAD
static bool ends_with(VALUE string, const char *suffix)
{
    long length = (long)strlen(suffix);
    return RB_TYPE_P(string, T_STRING) && RSTRING_LEN(string) >= length &&
           memcmp(RSTRING_PTR(string) + RSTRING_LEN(string) - length, suffix, length) == 0;
}

/* The handle of the openssl.so that this process has loaded; NULL if it isn't a file of its own, or not one only. */
static void *open_openssl_so(void)
{
    VALUE features = rb_gv_get("$LOADED_FEATURES");
    void *handle = NULL;
    for (long i = 0; i < RARRAY_LEN(features); i++) {
        VALUE feature = RARRAY_AREF(features, i);
        if (!ends_with(feature, "/openssl.so") && !ends_with(feature, "/openssl.bundle"))
            continue;
        void *found = dlopen(StringValueCStr(feature), RTLD_NOLOAD | RTLD_LAZY);
        if (found && handle && found != handle)
            return NULL;
        if (found)
            handle = found;
    }
    return handle;
}

static bool find_functions(void)
{
    void *handle = open_openssl_so();
    if (!handle)
        return because("openssl.so is not a shared library of its own", "");
#define FIND(type, name, arguments) library.name = (type(*) arguments)dlsym(handle, #name);
    TN_TLS_FUNCTIONS(FIND)
    TN_TLS_OPTIONAL_FUNCTIONS(FIND)
#undef FIND
#define REQUIRE(type, name, arguments)                                                                                 \
    if (!library.name)                                                                                                 \
        return because("not found: ", #name);
    TN_TLS_FUNCTIONS(REQUIRE)
#undef REQUIRE
    return true;
}

/* The callback that openssl.so puts on every SSL must lie in openssl.so. */
static bool in_openssl_so(tn_ssl_info_callback *callback)
{
    Dl_info info;
    void *address;
    memcpy(&address, &callback, sizeof(address));
    if (!callback || !dladdr(address, &info) || !info.dli_fname)
        return false;
    const char *name = strrchr(info.dli_fname, '/');
    return name && strncmp(name, "/openssl.", 9) == 0;
}
#else
static bool find_functions(void)
{
    return because("no dlopen with RTLD_NOLOAD here", "");
}

static bool in_openssl_so(TN_UNUSED tn_ssl_info_callback *callback)
{
    return false;
}
#endif

/* ---- openssl's Ruby side ---- */

static bool method_is(VALUE klass, const char *name, VALUE owner, const char *file)
{
    VALUE symbol = ID2SYM(rb_intern(name));
    VALUE method = rb_funcall(klass, rb_intern("instance_method"), 1, symbol);
    if (rb_funcall(method, rb_intern("owner"), 0) != owner)
        return false;
    VALUE location = rb_funcall(method, rb_intern("source_location"), 0);
    if (!file)
        return NIL_P(location); /* in C */
    if (!RB_TYPE_P(location, T_ARRAY))
        return false;
    VALUE path = RARRAY_AREF(location, 0);
    return RTEST(rb_funcall(path, rb_intern("end_with?"), 1, rb_str_new_cstr(file)));
}

/* A program that wrapped one of these (a tracer, say) wants to see the calls. */
static bool methods_are_stock(void)
{
    static const char *const in_c[] = {"accept", "accept_nonblock", "sysread", "syswrite"};
    static const char *const private_in_c[] = {"sysread_nonblock", "syswrite_nonblock"};
    static const char *const in_ruby[] = {"read", "readpartial", "read_nonblock", "write", "write_nonblock", "flush"};
    VALUE buffering = rb_path2class("OpenSSL::Buffering");
    for (int i = 0; i < 4; i++)
        if (!method_is(library.socket_class, in_c[i], library.socket_class, NULL))
            return because("changed by the program: SSLSocket#", in_c[i]);
    for (int i = 0; i < 2; i++)
        if (!method_is(library.socket_class, private_in_c[i], library.socket_class, NULL))
            return because("changed by the program: SSLSocket#", private_in_c[i]);
    for (int i = 0; i < 6; i++)
        if (!method_is(library.socket_class, in_ruby[i], buffering, "/openssl/buffering.rb"))
            return because("changed by the program: SSLSocket#", in_ruby[i]);
    return true;
}

static void remember_classes(void)
{
    library.socket_class = rb_path2class("OpenSSL::SSL::SSLSocket");
    library.context_class = rb_path2class("OpenSSL::SSL::SSLContext");
    library.error_class = rb_path2class("OpenSSL::SSL::SSLError");
    rb_gc_register_mark_object(library.socket_class);
    rb_gc_register_mark_object(library.context_class);
    rb_gc_register_mark_object(library.error_class);
    library.asks_for_dh = rb_method_boundp(library.socket_class, rb_intern("tmp_dh_callback"), 0);
}

static bool version_is_known(void)
{
    VALUE openssl = rb_path2class("OpenSSL");
    VALUE gem = rb_const_get(openssl, rb_intern("VERSION"));
    VALUE linked = rb_const_get(openssl, rb_intern("OPENSSL_LIBRARY_VERSION"));
    int major = 0, minor = 0;
    if (sscanf(StringValueCStr(gem), "%d.%d", &major, &minor) != 2)
        return because("unknown version of the openssl gem: ", RSTRING_PTR(gem));
    library.gem_version = major * 100 + minor;
    /* The forks have the functions, but what is said here of threads was read in OpenSSL's own source. */
    return strncmp(StringValueCStr(linked), "OpenSSL ", 8) == 0 || because("not OpenSSL: ", RSTRING_PTR(linked));
}

/* ---- the proof ---- */

static bool find_self(const tn_ssl *ssl, VALUE socket)
{
    for (library.self_index = 0; library.self_index < 16; library.self_index++)
        if (library.SSL_get_ex_data(ssl, library.self_index) == (void *)socket)
            return true;
    return because("an SSLSocket's SSL doesn't know the SSLSocket", "");
}

static bool prove_with(VALUE socket)
{
    if (!RB_TYPE_P(socket, T_DATA) || !RTYPEDDATA_P(socket) ||
        strcmp(RTYPEDDATA_TYPE(socket)->wrap_struct_name, "OpenSSL/SSL") != 0)
        return because("an SSLSocket isn't what it was", "");
    library.socket_type = RTYPEDDATA_TYPE(socket);
    tn_ssl *ssl = RTYPEDDATA(socket)->data;
    /* A static object of the library that made the SSL. Another copy of the library would have another address. */
    if (!ssl || library.SSL_get_ssl_method(ssl) != library.TLS_method())
        return because("openssl.so uses another libssl than the one found", "");
    library.info_callback = library.SSL_get_info_callback(ssl);
    if (!in_openssl_so(library.info_callback))
        return because("an SSL's info callback isn't openssl.so's", "");
    if (library.SSL_get_rbio(ssl))
        return because("an SSL has its descriptor too early", "");
    return find_self(ssl, socket);
}

static VALUE make_and_prove(VALUE io)
{
    VALUE arguments[] = {io, rb_class_new_instance(0, NULL, library.context_class)};
    VALUE socket = rb_class_new_instance(2, arguments, library.socket_class);
    bool proven = prove_with(socket);
    RB_GC_GUARD(socket);
    return proven ? Qtrue : Qfalse;
}

static VALUE decide(TN_UNUSED VALUE unused)
{
    remember_classes();
    untouched = methods_are_stock();
    if (!untouched)
        return Qfalse;
    const char *setting = getenv("THRIFT_NATIVE_TLS");
    if (setting && strcmp(setting, "ruby") == 0)
        return because("THRIFT_NATIVE_TLS=ruby", "") ? Qtrue : Qfalse;
    if (!version_is_known() || !find_functions())
        return Qfalse;
    VALUE null = rb_file_open("/dev/null", "r+");
    return rb_ensure(make_and_prove, null, rb_io_close, null);
}

static bool openssl_loaded(void)
{
    ID name = rb_intern("OpenSSL");
    if (!rb_const_defined(rb_cObject, name) || !NIL_P(rb_autoload_p(rb_cObject, name)))
        return false;
    VALUE openssl = rb_const_get(rb_cObject, name);
    if (!RB_TYPE_P(openssl, T_MODULE) || !rb_const_defined_at(openssl, rb_intern("SSL")))
        return false;
    VALUE ssl = rb_const_get(openssl, rb_intern("SSL"));
    return RB_TYPE_P(ssl, T_MODULE) && rb_const_defined_at(ssl, rb_intern("SSLServer")); /* the last in ssl.rb */
}

static void look(void)
{
    int state = 0;
    VALUE before = rb_errinfo();
    decision = INDIRECT; /* also for whoever asks while we look */
    if (RTEST(rb_protect(decide, Qnil, &state)))
        decision = DIRECT;
    if (state) {
        rb_set_errinfo(before);
        because("the test of openssl raised an exception", "");
    }
}

const tn_tls_library *tn_tls_library_get(void)
{
    if (TN_UNLIKELY(decision == UNDECIDED) && openssl_loaded())
        look();
    return decision == DIRECT ? &library : NULL;
}

VALUE tn_tls_status(void)
{
    return rb_str_new_cstr(tn_tls_library_get() ? "direct" : why);
}

bool tn_tls_methods_untouched(void)
{
    return untouched;
}

/* ---- one SSLSocket ---- */

tn_ssl *tn_tls_ssl_of(const tn_tls_library *lib, VALUE socket)
{
    if (!RB_TYPE_P(socket, T_DATA) || CLASS_OF(socket) != lib->socket_class || !RTYPEDDATA_P(socket) ||
        RTYPEDDATA_TYPE(socket) != lib->socket_type)
        return NULL;
    return RTYPEDDATA(socket)->data;
}

bool tn_tls_io_open_p(VALUE io)
{
    if (!RB_TYPE_P(io, T_FILE))
        return false;
#ifdef HAVE_RB_IO_CLOSED_P
    return !RTEST(rb_io_closed_p(io));
#else
    const rb_io_t *file = RFILE(io)->fptr;
    return file && file->fd >= 0;
#endif
}

bool tn_tls_nonblocking(VALUE io)
{
    int fd = rb_io_descriptor(io);
    int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && ((flags & O_NONBLOCK) || fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0);
}

/* A context is frozen when its first SSLSocket is made, and only then are callbacks installed: its instance variables
 * tell which. npn_protocols is no callback, but openssl.so reads it from the Ruby object in the midst of a handshake.
 */
bool tn_tls_quiet_p(VALUE socket)
{
    static const char *const callbacks[] = {
        "@verify_callback", "@servername_cb", "@session_new_cb",  "@session_get_cb",  "@session_remove_cb",
        "@alpn_select_cb",  "@npn_select_cb", "@npn_protocols",   "@tmp_dh_callback", "@tmp_ecdh_callback",
        "@client_cert_cb",  "@keylog_cb",     "@renegotiation_cb"};
    VALUE context = rb_attr_get(socket, rb_intern("@context"));
    if (!RB_TYPE_P(context, T_DATA) || CLASS_OF(context) != library.context_class || !OBJ_FROZEN(context))
        return false;
    for (size_t i = 0; i < sizeof(callbacks) / sizeof(callbacks[0]); i++)
        if (!NIL_P(rb_attr_get(context, rb_intern(callbacks[i]))))
            return false;
    return true;
}

/* ---- failures ---- */

enum { HAS_TEXT = 2 }; /* ERR_TXT_STRING */

static const char *or_nothing(const char *text)
{
    return text ? text : "";
}

static void describe_last(const tn_tls_library *lib, tn_tls_failure *failure)
{
    const char *data = NULL;
    int flags = 0;
    unsigned long error;
    if (lib->ERR_peek_last_error_all)
        error = lib->ERR_peek_last_error_all(NULL, NULL, NULL, &data, &flags);
    else if (lib->ERR_peek_last_error_line_data)
        error = lib->ERR_peek_last_error_line_data(NULL, NULL, &data, &flags);
    else
        error = lib->ERR_peek_last_error();
    const char *reason = lib->ERR_reason_error_string(error);
    bool more = lib->gem_version >= 302 && (flags & HAS_TEXT) && data;
    snprintf(failure->text, sizeof(failure->text), more ? "%s (%s)" : "%s", reason ? reason : "(null)", data);
}

static void describe_all(const tn_tls_library *lib, tn_tls_failure *failure)
{
    const char *function, *data;
    int flags;
    unsigned long error;
    while (failure->error_count < TN_TLS_ERRORS &&
           (error = lib->ERR_get_error_all(NULL, NULL, &function, &data, &flags))) {
        char *text = failure->errors[failure->error_count++];
        int length = snprintf(text, TN_TLS_ERROR_TEXT, "error:%08lX:%s:%s:%s", error,
                              or_nothing(lib->ERR_lib_error_string(error)), or_nothing(function),
                              or_nothing(lib->ERR_reason_error_string(error)));
        if ((flags & HAS_TEXT) && data && length < TN_TLS_ERROR_TEXT)
            snprintf(text + length, TN_TLS_ERROR_TEXT - length, " (%s)", data);
    }
}

void tn_tls_failure_take(const tn_tls_library *lib, const tn_ssl *ssl, int result, tn_tls_failure *failure)
{
    failure->number = errno;
    failure->code = lib->SSL_get_error(ssl, result);
    failure->queued = lib->ERR_peek_error() != 0;
    failure->error_count = 0;
    if (failure->code == TN_SSL_ERROR_WANT_READ || failure->code == TN_SSL_ERROR_WANT_WRITE)
        return;
    failure->state = lib->SSL_state_string_long(ssl);
    if (!failure->queued)
        return;
    describe_last(lib, failure);
    if (lib->gem_version >= 400 && lib->ERR_get_error_all)
        describe_all(lib, failure);
    lib->ERR_clear_error();
}

VALUE tn_tls_failure_exception(const tn_tls_library *lib, const tn_tls_failure *failure, VALUE what)
{
    if (failure->queued)
        what = rb_sprintf("%" PRIsVALUE ": %s", what, failure->text);
    VALUE exception = rb_exc_new_str(lib->error_class, what);
    if (lib->gem_version >= 400) {
        VALUE errors = rb_ary_new();
        for (int i = 0; i < failure->error_count; i++)
            rb_ary_push(errors, rb_str_new_cstr(failure->errors[i]));
        rb_ivar_set(exception, rb_intern("@errors"), errors);
    }
    return exception;
}
