/* SPDX-License-Identifier: Apache-2.0 */
#include "text.h"

#include <ruby/version.h>
#include <string.h>

enum { WORTH_IT = 1 << 16 };

#if RUBY_API_VERSION_CODE < 30200
static bool shares; /* as a try at load time showed */

/* Ruby lets two Strings share their memory if both end at the same place. Up to Ruby 3.1 all that makes the end is a
 * length in the object. */
static VALUE share(VALUE whole, long offset, long length)
{
    VALUE part = rb_str_subseq(whole, offset, RSTRING_LEN(whole) - offset);
    if (RB_FL_ANY_RAW(part, RSTRING_NOEMBED) && RSTRING_PTR(part) == RSTRING_PTR(whole) + offset)
        RSTRING(part)->as.heap.len = length;
    return RSTRING_LEN(part) == length ? part : 0;
}

VALUE tn_shared_part(VALUE whole, long offset, long length)
{
    /* Not if the small part would keep something large alive. */
    bool worth_it = length >= WORTH_IT && length >= RSTRING_LEN(whole) / 2;
    if (TN_LIKELY(!worth_it) || !shares || RSTRING_PTR(whole)[offset + length] != '\0')
        return 0;
    return share(whole, offset, length);
}

/* Takes a part, changes both, and looks whether each is as it should be. */
void tn_text_init(void)
{
    enum { LENGTH = 1000, OFFSET = 10, PART = 900 };
    VALUE whole = rb_str_new(NULL, LENGTH);
    memset(RSTRING_PTR(whole), 'w', LENGTH);
    RSTRING_PTR(whole)[OFFSET + PART] = '\0';
    VALUE part = share(whole, OFFSET, PART);
    if (!part || RSTRING_LEN(part) != PART || RSTRING_LEN(whole) != LENGTH)
        return;
    rb_str_cat_cstr(part, "+");
    rb_str_cat_cstr(whole, "-");
    shares = RSTRING_LEN(part) == PART + 1 && RSTRING_PTR(part)[PART] == '+' && RSTRING_PTR(part)[PART - 1] == 'w' &&
             RSTRING_LEN(whole) == LENGTH + 1 && RSTRING_PTR(whole)[OFFSET + PART] == '\0';
}
#else
VALUE tn_shared_part(TN_UNUSED VALUE whole, TN_UNUSED long offset, TN_UNUSED long length)
{
    return 0;
}

void tn_text_init(void)
{
}
#endif
