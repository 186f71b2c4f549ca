/* SPDX-License-Identifier: Apache-2.0
 * The one umbrella header: Ruby once, assertions, hints, and the shims for what a Ruby lacks. */
#ifndef TN_H
#define TN_H

#include <ruby.h>
#include <ruby/encoding.h>
#include <ruby/io.h>
#include <ruby/thread.h>
#include <stdbool.h>
#include <stdint.h>

#include "compat.h"

#ifdef TN_DEBUG
#include <assert.h>
#define TN_ASSERT(condition) assert(condition)
#else
#define TN_ASSERT(condition) ((void)0)
#endif

/* A parameter that a signature wants and the function doesn't. */
#define TN_UNUSED __attribute__((unused))

#define TN_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define TN_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

#endif
