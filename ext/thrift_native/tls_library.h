/* SPDX-License-Identifier: Apache-2.0
 * The libssl and libcrypto that Ruby's openssl.so is linked with, found in the running process. Neither OpenSSL's
 * headers nor a second copy of its libraries are needed: the functions come out of the loaded openssl.so by dlsym, and
 * an SSLSocket made as a test proves that its SSL was made by that very library and is laid out as we think.
 *
 * Reading order: tls_library.h, tls_library.c, tls.c (reading and writing), tls_handshake.c. */
#ifndef TN_TLS_LIBRARY_H
#define TN_TLS_LIBRARY_H

#include "tn.h"

typedef struct ssl_st tn_ssl; /* OpenSSL's own; never looked into */
typedef void tn_ssl_info_callback(const tn_ssl *, int, int);
typedef void *tn_ssl_dh_callback(tn_ssl *, int, int);

/* SSL_get_error(3); the same numbers since SSLeay */
enum {
    TN_SSL_ERROR_NONE = 0,
    TN_SSL_ERROR_WANT_READ = 2,
    TN_SSL_ERROR_WANT_WRITE = 3,
    TN_SSL_ERROR_SYSCALL = 5,
    TN_SSL_ERROR_ZERO_RETURN = 6
};

/* X(type, name, arguments). All of them, or the Ruby API. */
#define TN_TLS_FUNCTIONS(X)                                                                                            \
    X(const void *, TLS_method, (void))                                                                                \
    X(int, SSL_accept, (tn_ssl *))                                                                                     \
    X(int, SSL_get_error, (const tn_ssl *, int))                                                                       \
    X(void *, SSL_get_ex_data, (const tn_ssl *, int))                                                                  \
    X(tn_ssl_info_callback *, SSL_get_info_callback, (tn_ssl *))                                                       \
    X(void *, SSL_get_rbio, (const tn_ssl *))                                                                          \
    X(const void *, SSL_get_ssl_method, (const tn_ssl *))                                                              \
    X(int, SSL_in_init, (const tn_ssl *))                                                                              \
    X(int, SSL_read, (tn_ssl *, void *, int))                                                                          \
    X(int, SSL_renegotiate_pending, (const tn_ssl *))                                                                  \
    X(int, SSL_set_fd, (tn_ssl *, int))                                                                                \
    X(void, SSL_set_info_callback, (tn_ssl *, tn_ssl_info_callback *))                                                 \
    X(const char *, SSL_state_string_long, (const tn_ssl *))                                                           \
    X(int, SSL_write, (tn_ssl *, const void *, int))                                                                   \
    X(void, ERR_clear_error, (void))                                                                                   \
    X(unsigned long, ERR_peek_error, (void))                                                                           \
    X(unsigned long, ERR_peek_last_error, (void))                                                                      \
    X(const char *, ERR_lib_error_string, (unsigned long))                                                             \
    X(const char *, ERR_reason_error_string, (unsigned long))

/* NULL where the library hasn't got them: OpenSSL 1.1 the first two, a later one perhaps the others. */
#define TN_TLS_OPTIONAL_FUNCTIONS(X)                                                                                   \
    X(unsigned long, ERR_get_error_all, (const char **, int *, const char **, const char **, int *))                   \
    X(unsigned long, ERR_peek_last_error_all, (const char **, int *, const char **, const char **, int *))             \
    X(unsigned long, ERR_peek_last_error_line_data, (const char **, int *, const char **, int *))                      \
    X(void, SSL_set_tmp_dh_callback, (tn_ssl *, tn_ssl_dh_callback *))                                                 \
    X(const void *, EVP_PKEY_get0_DH, (void *))

typedef struct {
#define TN_DECLARE_FUNCTION(type, name, arguments) type(*name) arguments;
    TN_TLS_FUNCTIONS(TN_DECLARE_FUNCTION)
    TN_TLS_OPTIONAL_FUNCTIONS(TN_DECLARE_FUNCTION)
#undef TN_DECLARE_FUNCTION
    VALUE socket_class;                  /* OpenSSL::SSL::SSLSocket */
    VALUE context_class;                 /* OpenSSL::SSL::SSLContext */
    VALUE error_class;                   /* OpenSSL::SSL::SSLError */
    const rb_data_type_t *socket_type;   /* of a SSLSocket's data, which is its SSL */
    tn_ssl_info_callback *info_callback; /* what openssl.so installs on every SSL; it runs Ruby */
    int self_index;                      /* SSL_get_ex_data(ssl, self_index) is the SSLSocket */
    int gem_version;                     /* 303 is 3.3 */
    bool asks_for_dh; /* every SSL asks the SSLSocket for DH parameters, that is Ruby (before openssl 4.0) */
} tn_tls_library;

/* NULL: use the Ruby API; tn_tls_status() says why. Looks once, when openssl is loaded. The VM lock is held. */
const tn_tls_library *tn_tls_library_get(void);

/* The SSL of `socket`; NULL if `socket` isn't exactly an SSLSocket, or has none. */
tn_ssl *tn_tls_ssl_of(const tn_tls_library *library, VALUE socket);

/* SSLSocket's methods are openssl's own, so that calling what is under them makes no difference. */
bool tn_tls_methods_untouched(void);

/* True if `io` is an open IO. Never raises. */
bool tn_tls_io_open_p(VALUE io);

/* Sets O_NONBLOCK, which SSLSocket.new has done; somebody may have taken it away. False if that failed. */
bool tn_tls_nonblocking(VALUE io);

/* True if nothing in `socket`'s SSLContext makes OpenSSL run Ruby. */
bool tn_tls_quiet_p(VALUE socket);

/* ---- what OpenSSL says after a failed call ---- */

enum { TN_TLS_ERRORS = 4, TN_TLS_ERROR_TEXT = 256 };

typedef struct {
    int code;                     /* SSL_get_error */
    int number;                   /* errno */
    bool queued;                  /* the error queue wasn't empty */
    const char *state;            /* for a handshake */
    char text[TN_TLS_ERROR_TEXT]; /* the last error, as the installed openssl gem writes it */
    int error_count;
    char errors[TN_TLS_ERRORS][TN_TLS_ERROR_TEXT]; /* openssl >= 4.0 hands them all out */
} tn_tls_failure;

/* In the thread that made the call, because the queue belongs to it, and before anything else. Runs no Ruby; leaves
 * an empty queue. */
void tn_tls_failure_take(const tn_tls_library *library, const tn_ssl *ssl, int result, tn_tls_failure *failure);

/* The SSLError whose message starts with `what`. */
VALUE tn_tls_failure_exception(const tn_tls_library *library, const tn_tls_failure *failure, VALUE what);

void tn_tls_library_init(void);
void tn_tls_handshake_init(VALUE ext);

#endif
