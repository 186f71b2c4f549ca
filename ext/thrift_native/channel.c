/* SPDX-License-Identifier: Apache-2.0 */
#include "channel.h"
#include "errors.h"
#include "place.h"
#include "refill.h"
#include "stock.h"
#include "window.h"

#include <limits.h>

static tn_place trans_places[TN_WIRE_COMPACT + 1], limit_places[TN_WIRE_COMPACT + 1];

static bool wire_of(VALUE protocol, tn_wire *wire)
{
    if (tn_exact_protocol_p(protocol, TN_ACCELERATED) && tn_class_untouched(&tn_watch_list[TN_BINARY])) {
        *wire = TN_WIRE_ACCELERATED;
    } else if (tn_exact_protocol_p(protocol, TN_COMPACT)) {
        *wire = TN_WIRE_COMPACT;
    } else if (tn_exact_protocol_p(protocol, TN_BINARY)) {
        *wire = TN_WIRE_BINARY;
    } else {
        return false;
    }
    return true;
}

static tn_kind kind_of_transport(VALUE transport)
{
    static const tn_kind kinds[] = {TN_FRAMED, TN_MEMORY, TN_BUFFERED};
    for (int i = 0; i < 3; i++) {
        if (tn_exact_p(transport, kinds[i]))
            return kinds[i];
    }
    return TN_KINDS;
}

bool tn_channel_of_protocol(VALUE protocol, tn_channel *channel)
{
    if (!wire_of(protocol, &channel->wire) || RB_OBJ_FROZEN_RAW(protocol))
        return false;
    channel->protocol = protocol;
    channel->transport = tn_place_get(protocol, &trans_places[channel->wire]);
    channel->transport_kind = kind_of_transport(channel->transport);
    return true;
}

bool tn_channel_of(VALUE protocol, tn_channel *channel)
{
    if (TN_UNLIKELY(tn_exact_protocol_p(protocol, TN_MULTIPLEXED) && tn_class_untouched(&tn_watch_list[TN_DECORATOR])))
        protocol = rb_attr_get(protocol, tn_id_iv_protocol);
    return tn_channel_of_protocol(protocol, channel) && channel->transport_kind != TN_KINDS;
}

VALUE tn_channel_sink(const tn_channel *channel)
{
    tn_kind kind = channel->transport_kind;
    VALUE transport = channel->transport;
    if (kind == TN_KINDS || (kind == TN_FRAMED && !RTEST(tn_ivar(transport, kind, TN_WRITE, tn_id_iv_write))))
        return 0;
    VALUE sink = kind == TN_MEMORY ? tn_ivar(transport, kind, TN_RBUF, tn_id_iv_buf)
                                   : tn_ivar(transport, kind, TN_WBUF, tn_id_iv_wbuf);
    return tn_mutable_string_p(sink) ? sink : 0;
}

/* ---- reading ---- */

enum { DEFAULT_MAX_STRING = 16384000 };

long tn_max_string_size(VALUE protocol, tn_wire wire)
{
    VALUE limit = tn_place_get(protocol, &limit_places[wire]);
    if (FIXNUM_P(limit))
        return FIX2LONG(limit);
    return rb_ivar_defined(protocol, tn_id_iv_max_string_size) == Qtrue ? LONG_MAX : DEFAULT_MAX_STRING;
}

static ID buffer_of(const tn_in *in)
{
    return in->channel.transport_kind == TN_MEMORY ? tn_id_iv_buf : tn_id_iv_rbuf;
}

static bool load(tn_in *in)
{
    tn_window window;
    if (!tn_exact_window(in->channel.transport, in->channel.transport_kind, buffer_of(in), &window))
        return false;
    in->bytes = window.bytes;
    in->base = RSTRING_PTR(window.bytes);
    in->length = RSTRING_LEN(window.bytes);
    in->end = in->base + in->length;
    in->p = in->end - window.unread;
    in->left = false;
    return true;
}

bool tn_in_open(tn_in *in)
{
    tn_kind kind = in->channel.transport_kind;
    if (kind == TN_KINDS || (kind == TN_FRAMED && !RTEST(tn_ivar(in->channel.transport, kind, TN_READ, tn_id_iv_read))))
        return false;
    in->compact = in->channel.wire == TN_WIRE_COMPACT;
    in->keeps = false;
    return load(in);
}

bool tn_in_begin(tn_in *in, VALUE protocol)
{
    if (!tn_channel_of(protocol, &in->channel))
        return false;
    in->max_string_size = tn_max_string_size(in->channel.protocol, in->channel.wire);
    return tn_in_open(in);
}

void tn_in_commit(tn_in *in)
{
    if (TN_UNLIKELY(in->left))
        return;
    long index = in->p - in->base;
    if (TN_UNLIKELY(index >= TN_GARBAGE) && in->channel.transport_kind == TN_MEMORY && !in->keeps)
        tn_window_reset(in->channel.transport, tn_id_iv_buf, rb_str_subseq(in->bytes, index, in->length - index));
    else
        tn_window_seek(in->channel.transport, in->channel.transport_kind, index);
}

void tn_in_more(tn_in *in, long count)
{
    tn_in_leave(in);
    if (in->channel.transport_kind == TN_MEMORY)
        tn_memory_raise_end(in->channel.transport);
    if (in->channel.transport_kind == TN_FRAMED)
        tn_framed_collect(in->channel.transport, count);
    else
        tn_buffered_collect(in->channel.transport, count);
    if (!load(in) || tn_in_at_hand(in) < count)
        tn_raise_no_more_data();
}

void tn_in_leave(tn_in *in)
{
    tn_window_seek(in->channel.transport, in->channel.transport_kind, in->p - in->base);
    in->left = true;
}

void tn_in_return(tn_in *in)
{
    if (TN_UNLIKELY(!load(in)))
        rb_raise(rb_eRuntimeError, "the transport was changed while a struct was read from it");
}

void tn_channel_init(void)
{
    static const char *const classes[] = {"BinaryProtocol", "BinaryProtocolAccelerated", "CompactProtocol"};
    for (int wire = TN_WIRE_BINARY; wire <= TN_WIRE_COMPACT; wire++) {
        VALUE klass = tn_thrift_class(classes[wire]);
        if (!klass) /* thrift's own extension isn't there */
            continue;
        tn_place_init(&trans_places[wire], klass, tn_id_iv_trans);
        tn_place_init(&limit_places[wire], klass, tn_id_iv_max_string_size);
    }
}
