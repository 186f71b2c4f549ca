/* SPDX-License-Identifier: Apache-2.0
 * Every ID and every class that the C code names, once. */
#ifndef TN_NAMES_H
#define TN_NAMES_H

#include "tn.h"

/* X(C name, Ruby name) */
#define TN_IDS(X)                                                                                                      \
    X(iv_buf, "@buf")                                                                                                  \
    X(iv_desc, "@desc")                                                                                                \
    X(iv_handle, "@handle")                                                                                            \
    X(iv_index, "@index")                                                                                              \
    X(iv_io, "@io")                                                                                                    \
    X(iv_iprot, "@iprot")                                                                                              \
    X(iv_linger_on, "@linger_on")                                                                                      \
    X(iv_linger_seconds, "@linger_seconds")                                                                            \
    X(iv_max_frame_size, "@max_frame_size")                                                                            \
    X(iv_oprot, "@oprot")                                                                                              \
    X(iv_pending_seqids, "@pending_seqids")                                                                            \
    X(iv_protocol, "@protocol")                                                                                        \
    X(iv_rbuf, "@rbuf")                                                                                                \
    X(iv_read, "@read")                                                                                                \
    X(iv_read_timeout, "@read_timeout")                                                                                \
    X(iv_timeout, "@timeout")                                                                                          \
    X(iv_trans, "@trans")                                                                                              \
    X(iv_transport, "@transport")                                                                                      \
    X(iv_wbuf, "@wbuf")                                                                                                \
    X(iv_write, "@write")                                                                                              \
    X(iv_write_timeout, "@write_timeout")                                                                              \
    X(close, "close")                                                                                                  \
    X(closed_p, "closed?")                                                                                             \
    X(flush, "flush")                                                                                                  \
    X(hidden_closing, "__tn_closing")                                                                                  \
    X(hidden_conn, "__tn_conn")                                                                                        \
    X(open, "open")                                                                                                    \
    X(open_p, "open?")                                                                                                 \
    X(raise, "raise")                                                                                                  \
    X(read, "read")                                                                                                    \
    X(read_all, "read_all")                                                                                            \
    X(read_byte, "read_byte")                                                                                          \
    X(read_into_buffer, "read_into_buffer")                                                                            \
    X(readpartial, "readpartial")                                                                                      \
    X(stock_close, "__stock_close")                                                                                    \
    X(stock_flush, "__stock_flush")                                                                                    \
    X(stock_open, "__stock_open")                                                                                      \
    X(stock_read, "__stock_read")                                                                                      \
    X(stock_read_all, "__stock_read_all")                                                                              \
    X(stock_read_byte, "__stock_read_byte")                                                                            \
    X(stock_read_into_buffer, "__stock_read_into_buffer")                                                              \
    X(stock_receive_message, "__stock_receive_message")                                                                \
    X(stock_send_message, "__stock_send_message")                                                                      \
    X(stock_send_oneway_message, "__stock_send_oneway_message")                                                        \
    X(stock_write, "__stock_write")                                                                                    \
    X(value, "value")                                                                                                  \
    X(write, "write")

#define TN_DECLARE_ID(name, text) extern ID tn_id_##name;
TN_IDS(TN_DECLARE_ID)
#undef TN_DECLARE_ID

extern VALUE tn_mThrift;
extern VALUE tn_cBaseTransport;
extern VALUE tn_eTransportException;

void tn_names_init(void);

#endif
