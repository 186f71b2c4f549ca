/* SPDX-License-Identifier: Apache-2.0
 * Ruby inside of libFuzzer: gives its bytes to Fuzz.outcome (target.rb), in our extension as built by
 * rakelib/fuzz.rake, with coverage and sanitizers. FUZZ_SETUP in the environment is Ruby code that gives Fuzz, or does
 * something else and gives nil. The arguments are libFuzzer's. */
#include <ruby.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*one)(const uint8_t *data, size_t size));

static VALUE fuzz, bytes;

static VALUE call(VALUE unused)
{
    return rb_funcall(fuzz, rb_intern("outcome"), 1, bytes);
}

/* An exception that isn't foreseen is a find, as a crash is. */
static void stop(const char *where)
{
    VALUE error = rb_errinfo();
    VALUE text = rb_funcall(error, rb_intern("full_message"), 0);
    fprintf(stderr, "%s: %s\n", where, StringValueCStr(text));
    abort();
}

static int one(const uint8_t *data, size_t size)
{
    int state;
    bytes = rb_str_new((const char *)data, (long)size);
    rb_protect(call, Qnil, &state);
    if (state)
        stop("outcome");
    return 0;
}

int main(int argc, char **argv)
{
    int state;
    ruby_sysinit(&argc, &argv);
    RUBY_INIT_STACK;
    ruby_init();
    static char *empty_program[] = {"fuzz", "--disable-gems", "-e", "nil"};
    ruby_exec_node(ruby_options(4, empty_program)); /* loads what of Ruby is written in Ruby */
    rb_gc_register_address(&fuzz);
    rb_gc_register_address(&bytes);
    const char *setup = getenv("FUZZ_SETUP");
    fuzz = rb_eval_string_protect(setup ? setup : "nil", &state);
    if (state)
        stop("setup");
    if (NIL_P(fuzz)) /* that was all */
        return ruby_cleanup(0);
    return LLVMFuzzerRunDriver(&argc, &argv, one);
}
