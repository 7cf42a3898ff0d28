/* Digests are those of BLAKE2b, and of texts that come in parts. */
#include "base/digest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static void expect(const char *hex, Digest digest) {
    char text[2 * sizeof digest.bytes + 1];
    for (size_t i = 0; i < sizeof digest.bytes; i++)
        snprintf(text + 2 * i, 3, "%02x", digest.bytes[i]);
    assert_string_equal(text, hex);
}

/* What Python's hashlib.blake2b(text, digest_size=16) gives. */
static void digests_are_those_of_blake2b(void **state) {
    char bytes[1000];
    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(i * 7);
    expect("cae66941d9efbd404e4d88758ea67670", digest_of("", 0));
    expect("cf4ab791c62b8d2b2109c90275287816", digest_of("abc", 3));
    expect("06e5bcee475a6bf6d9b8a07c6f4ae80a", digest_of(bytes, 128));
    expect("2ec7e7bf8a8265ffd68aadd70ecd2b7e", digest_of(bytes, 129));
    expect("8095a6f38992fefe1c12ac8ec5e70791", digest_of(bytes, 1000));
}

static void parts_do_not_matter(void **state) {
    char bytes[700];
    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(i * 31 >> 2);
    Digest whole = digest_of(bytes, sizeof bytes);
    for (size_t first = 0; first <= sizeof bytes; first += 13) {
        Digesting digesting;
        digest_start(&digesting);
        digest_add(&digesting, bytes, first);
        digest_add(&digesting, bytes + first, sizeof bytes - first);
        assert_true(digest_equal(digest_end(&digesting), whole));
    }
}

static Digest of_texts(const char *a, const char *b) {
    Digesting digesting;
    digest_start(&digesting);
    digest_add_text(&digesting, a);
    digest_add_text(&digesting, b);
    return digest_end(&digesting);
}

static void texts_have_an_end(void **state) {
    (void)state;
    assert_false(digest_equal(of_texts("a", "bc"), of_texts("ab", "c")));
    assert_false(digest_equal(of_texts("a", NULL), of_texts("a", "")));
    assert_true(digest_equal(of_texts("a", "bc"), of_texts("a", "bc")));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digests_are_those_of_blake2b),
        cmocka_unit_test(parts_do_not_matter),
        cmocka_unit_test(texts_have_an_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
