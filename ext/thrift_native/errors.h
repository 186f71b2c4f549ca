/* SPDX-License-Identifier: Apache-2.0
 * The only place that makes Thrift exceptions. */
#ifndef TN_ERRORS_H
#define TN_ERRORS_H

#include "names.h"

/* Thrift::TransportException's types. */
typedef enum {
    TN_UNKNOWN = 0,
    TN_NOT_OPEN = 1,
    TN_ALREADY_OPEN = 2,
    TN_TIMED_OUT = 3,
    TN_END_OF_FILE = 4,
    TN_NEGATIVE_SIZE = 5,
    TN_SIZE_LIMIT = 6
} tn_transport_error;

NORETURN(void tn_raise_transport(tn_transport_error type, VALUE message));

/* The same with `cause` set; nil leaves $! as the cause, as Kernel#raise does. */
NORETURN(void tn_raise_transport_caused(tn_transport_error type, VALUE message, VALUE cause));

NORETURN(void tn_raise_negative_size(void));
NORETURN(void tn_raise_no_more_data(void));

#endif
