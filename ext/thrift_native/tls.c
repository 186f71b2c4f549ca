#include "tls.h"
long tn_tls_read(VALUE ssl, char *b, long c, VALUE *e){ *e = rb_exc_new_cstr(rb_eRuntimeError,"no tls yet"); return TN_TLS_ERROR; }
long tn_tls_write(VALUE ssl, const char *b, long c, VALUE *e){ *e = rb_exc_new_cstr(rb_eRuntimeError,"no tls yet"); return TN_TLS_ERROR; }
void tn_tls_handshake(VALUE ssl, double t){}
VALUE tn_tls_status(void){ return Qnil; }
void tn_tls_init(VALUE ext){}
