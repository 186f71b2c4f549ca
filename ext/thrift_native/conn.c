/* SPDX-License-Identifier: Apache-2.0 */
#include "conn.h"
#include "names.h"
#include "tls_library.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

unsigned long tn_fork_generation;

static VALUE plain_classes[3]; /* TCPSocket, Socket, UNIXSocket */
static VALUE box_class;        /* of the object that holds a tn_conn; can't be made or copied from Ruby */
static VALUE ssl_class;        /* OpenSSL::SSL::SSLSocket, once the program has loaded openssl */

/* No VALUE inside: nothing to mark, nothing that moves. */
static size_t conn_size(TN_UNUSED const void *conn)
{
    return sizeof(tn_conn);
}

static const rb_data_type_t conn_type = {
    .wrap_struct_name = "Thrift::Native connection",
    .function = {.dmark = NULL, .dfree = RUBY_TYPED_DEFAULT_FREE, .dsize = conn_size},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY | RUBY_TYPED_WB_PROTECTED,
};

static void count_fork(void)
{
    tn_fork_generation++;
}

static VALUE loaded_ssl_class(void)
{
    if (ssl_class || !rb_const_defined(rb_cObject, rb_intern("OpenSSL")))
        return ssl_class;
    VALUE openssl = rb_const_get(rb_cObject, rb_intern("OpenSSL"));
    if (!RB_TYPE_P(openssl, T_MODULE) || !rb_const_defined_at(openssl, rb_intern("SSL")))
        return 0;
    VALUE klass = rb_path2class("OpenSSL::SSL::SSLSocket");
    rb_gc_register_mark_object(klass);
    tn_tls_library_get(); /* decided now, because it runs Ruby and a read or write mustn't */
    return ssl_class = klass;
}

static bool kind_of_handle(VALUE handle, tn_conn_kind *kind)
{
    VALUE klass = RBASIC_CLASS(handle);
    if (klass == plain_classes[0] || klass == plain_classes[1]) {
        *kind = TN_PLAIN_TCP;
    } else if (klass == plain_classes[2]) {
        *kind = TN_PLAIN_UNIX;
    } else if (klass == loaded_ssl_class()) {
        *kind = TN_TLS;
    } else {
        return false;
    }
    return true;
}

static tn_conn *new_conn(VALUE handle, tn_conn_kind kind)
{
    tn_conn *conn;
    if (RB_OBJ_FROZEN(handle)) /* nothing can hang on it */
        return NULL;
    VALUE boxed = TypedData_Make_Struct(box_class, tn_conn, &conn_type, conn);
    conn->kind = kind;
    conn->fork_generation = tn_fork_generation;
    conn->owner = getpid();
    rb_ivar_set(handle, tn_id_hidden_conn, boxed);
    return conn;
}

tn_conn *tn_conn_of(VALUE handle)
{
    tn_conn_kind kind;
    if (RB_SPECIAL_CONST_P(handle) || !kind_of_handle(handle, &kind))
        return NULL;
    VALUE boxed = rb_attr_get(handle, tn_id_hidden_conn);
    return NIL_P(boxed) ? new_conn(handle, kind) : (tn_conn *)RTYPEDDATA_DATA(boxed);
}

/* Ext.adopt(handle, opened_here): a connection was made. `opened_here` only for one that Socket#open made. */
static VALUE ext_adopt(TN_UNUSED VALUE ext, VALUE handle, VALUE opened_here)
{
    tn_conn *conn = tn_conn_of(handle);
    if (conn)
        conn->opened_here = RTEST(opened_here);
    return Qnil;
}

/* Ext.expose(handle): the program took the IO, so bytes may pass that we don't see. */
static VALUE ext_expose(TN_UNUSED VALUE ext, VALUE handle)
{
    tn_conn *conn = tn_conn_of(handle);
    if (conn)
        conn->exposed = true;
    return handle;
}

/* Ext.handshake_later(ssl_socket, timeout): an accepted TLS connection shakes hands when it is first read or
 * written, within `timeout` seconds (nil: no limit). False if that isn't possible for this object. */
static VALUE ext_handshake_later(TN_UNUSED VALUE ext, VALUE handle, VALUE timeout)
{
    double seconds = NIL_P(timeout) ? 0 : NUM2DBL(timeout);
    tn_conn *conn = tn_conn_of(handle);
    if (!conn || conn->kind != TN_TLS)
        return Qfalse;
    conn->handshake_pending = true;
    conn->handshake_timeout = seconds;
    return Qtrue;
}

/* Ext.handshake_pending?(handle) */
static VALUE ext_handshake_pending_p(TN_UNUSED VALUE ext, VALUE handle)
{
    tn_conn *conn = tn_conn_of(handle);
    return conn && conn->handshake_pending ? Qtrue : Qfalse;
}

void tn_conn_init(VALUE ext)
{
    static const char *const names[] = {"TCPSocket", "Socket", "UNIXSocket"};
    rb_require("socket");
    for (int i = 0; i < 3; i++) {
        plain_classes[i] = rb_path2class(names[i]);
        rb_gc_register_mark_object(plain_classes[i]);
    }
    box_class = rb_class_new(rb_cObject);
    rb_gc_register_mark_object(box_class);
    rb_undef_alloc_func(box_class);
    pthread_atfork(count_fork, NULL, NULL);
    rb_define_module_function(ext, "adopt", ext_adopt, 2);
    rb_define_module_function(ext, "expose", ext_expose, 1);
    rb_define_module_function(ext, "handshake_later", ext_handshake_later, 2);
    rb_define_module_function(ext, "handshake_pending?", ext_handshake_pending_p, 1);
}
