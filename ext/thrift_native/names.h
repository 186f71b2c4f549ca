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
    X(VALID_VALUES, "VALID_VALUES")                                                                                    \
    X(FIELDS, "FIELDS")                                                                                                \
    X(iv_hash, "@hash")                                                                                                \
    X(iv_last_field, "@last_field")                                                                                    \
    X(iv_max_string_size, "@max_string_size")                                                                          \
    X(iv_setfield, "@setfield")                                                                                        \
    X(iv_value, "@value")                                                                                              \
    X(close, "close")                                                                                                  \
    X(closed_p, "closed?")                                                                                             \
    X(flush, "flush")                                                                                                  \
    X(hidden_closing, "__tn_closing")                                                                                  \
    X(hidden_conn, "__tn_conn")                                                                                        \
    X(hidden_schema, "__tn_schema")                                                                                    \
    X(initialize, "initialize")                                                                                        \
    X(hash, "hash")                                                                                                    \
    X(equal, "==")                                                                                                     \
    X(iv_type_checking, "@type_checking")                                                                              \
    X(iv_protocol_factory, "@protocol_factory")                                                                        \
    X(stock_deserialize, "__stock_deserialize")                                                                        \
    X(stock_serialize, "__stock_serialize")                                                                            \
    X(stock_initialize, "__stock_initialize")                                                                          \
    X(stock_equal, "__stock_==")                                                                                       \
    X(stock_hash, "__stock_hash")                                                                                      \
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
    X(struct_fields, "struct_fields")                                                                                  \
    X(iv_boolean_field, "@boolean_field")                                                                              \
    X(iv_bool_value, "@bool_value")                                                                                    \
    X(iv_strict_read, "@strict_read")                                                                                  \
    X(iv_strict_write, "@strict_write")                                                                                \
    X(iv_reset_message_size, "@reset_message_size")                                                                    \
    X(stock_read_binary, "__stock_read_binary")                                                                        \
    X(stock_read_bool, "__stock_read_bool")                                                                            \
    X(stock_read_double, "__stock_read_double")                                                                        \
    X(stock_read_field_begin, "__stock_read_field_begin")                                                              \
    X(stock_read_i16, "__stock_read_i16")                                                                              \
    X(stock_read_i32, "__stock_read_i32")                                                                              \
    X(stock_read_i64, "__stock_read_i64")                                                                              \
    X(stock_read_list_begin, "__stock_read_list_begin")                                                                \
    X(stock_read_map_begin, "__stock_read_map_begin")                                                                  \
    X(stock_read_message_begin, "__stock_read_message_begin")                                                          \
    X(stock_read_set_begin, "__stock_read_set_begin")                                                                  \
    X(stock_read_string, "__stock_read_string")                                                                        \
    X(stock_read_uuid, "__stock_read_uuid")                                                                            \
    X(stock_skip, "__stock_skip")                                                                                      \
    X(stock_write_binary, "__stock_write_binary")                                                                      \
    X(stock_write_bool, "__stock_write_bool")                                                                          \
    X(stock_write_byte, "__stock_write_byte")                                                                          \
    X(stock_write_double, "__stock_write_double")                                                                      \
    X(stock_write_field_begin, "__stock_write_field_begin")                                                            \
    X(stock_write_field_stop, "__stock_write_field_stop")                                                              \
    X(stock_write_i16, "__stock_write_i16")                                                                            \
    X(stock_write_i32, "__stock_write_i32")                                                                            \
    X(stock_write_i64, "__stock_write_i64")                                                                            \
    X(stock_write_list_begin, "__stock_write_list_begin")                                                              \
    X(stock_write_map_begin, "__stock_write_map_begin")                                                                \
    X(stock_write_message_begin, "__stock_write_message_begin")                                                        \
    X(stock_write_set_begin, "__stock_write_set_begin")                                                                \
    X(stock_write_string, "__stock_write_string")                                                                      \
    X(stock_write_uuid, "__stock_write_uuid")                                                                          \
    X(value, "value")                                                                                                  \
    X(to_s, "to_s")                                                                                                    \
    X(validate, "validate")                                                                                            \
    X(write, "write")

#define TN_DECLARE_ID(name, text) extern ID tn_id_##name;
TN_IDS(TN_DECLARE_ID)
#undef TN_DECLARE_ID

extern VALUE tn_mThrift;
extern VALUE tn_cBaseTransport;
extern VALUE tn_eTransportException;

/* Thrift::<name>; 0 if there is none. */
VALUE tn_thrift_class(const char *name);

/* klass.new(argument), klass.new if that is 0, or nil if it raises: thrift 0.14 can make no transport where literals
 * are frozen. */
VALUE tn_try_new(VALUE klass, VALUE argument);

void tn_names_init(void);

#endif
