// sparsam hands boost's pointers to libthrift, which has wanted the standard ones since 0.11. Found before boost's own
// header, this gives it those: everything of libthrift and boost comes first, and what is left to rename is sparsam's.
#pragma once

#ifdef __cplusplus
#include <memory>

#include <thrift/protocol/TBinaryProtocol.h>
#include <thrift/protocol/TCompactProtocol.h>
#include <thrift/transport/TBufferTransports.h>

#define boost std
#endif
