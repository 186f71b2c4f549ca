/* SPDX-License-Identifier: Apache-2.0
 * TLS on Ruby's own OpenSSL::SSL::SSLSocket. SSL_read and SSL_write are called directly, through pointers looked
 * up in the very library that openssl.so is linked with (dlopen of the loaded openssl.so, RTLD_NOLOAD, then dlsym),
 * so that there is one libssl by construction; where that fails, sysread_nonblock and syswrite_nonblock are called.
 *
 * Those are also called for contexts with a callback, which may run inside a read or write: Ruby then works on Strings
 * of its own, so that `buffer` is only touched when no Ruby runs any more until the function returns. A Thread#kill, a
 * throw or an exception other than a StandardError leaves tn_tls_read and tn_tls_write by longjmp. */
#ifndef TN_TLS_H
#define TN_TLS_H

#include "conn.h"

enum { TN_TLS_EOF = 0, TN_TLS_WANT_READ = -1, TN_TLS_WANT_WRITE = -2, TN_TLS_ERROR = -3 };

/* Reads at most `cap` bytes without waiting, the VM lock held. Returns the count (>= 1), or one of the codes above.
 * Bytes in SSLSocket's own Ruby buffer (openssl's Buffering) come first. On TN_TLS_ERROR `*error` is the exception
 * that SSLSocket#sysread would have raised (SSLError, a SystemCallError, IOError), not yet raised.
 * TN_TLS_EOF is a clean end (close_notify) or what the installed openssl gem treats as such. */
long tn_tls_read(VALUE ssl, char *buffer, long cap, VALUE *error);

/* Writes at most `length` bytes without waiting; same returns (never TN_TLS_EOF). A retry may pass another address
 * with the same bytes (SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER is what openssl.so sets). */
long tn_tls_write(VALUE ssl, const char *buffer, long length, VALUE *error);

/* Server side. Shakes hands on an accepted SSLSocket within `timeout` seconds (<= 0: no limit), waiting as wait.h does.
 * Without the VM lock where the context runs no Ruby, else through SSLSocket#accept_nonblock. Raises
 * OpenSSL::SSL::SSLError (also when time is up) or a SystemCallError, as SSLServerSocket#accept does. While OpenSSL
 * works without the lock, the SSLSocket's methods raise "SSL is not initialized" in other threads, #close too. */
void tn_tls_handshake(VALUE ssl, double timeout);

/* Is OpenSSL at work on it without the VM lock? Then only the IO underneath can be closed, which ends that. */
bool tn_tls_at_work(VALUE ssl);

/* Does IO#close wait for OpenSSL to leave the descriptor alone? */
extern const bool tn_tls_holds_io;

/* "direct", or why reads, writes and handshakes use the Ruby API. */
VALUE tn_tls_status(void);

void tn_tls_init(VALUE ext);

#endif
