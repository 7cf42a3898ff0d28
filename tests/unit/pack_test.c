/* render/pack: texts made small, and made whole again as the page's script does it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "render/pack.h"

static unsigned digit(char c) {
    return c >= 'a'   ? (unsigned)(c - 'a') + 36
           : c >= 'A' ? (unsigned)(c - 'A') + 10
           : c >= '0' ? (unsigned)(c - '0')
           : c == '+' ? 62
                      : 63;
}

/* A text in the units of a script's string: each character one, those of four bytes two. */
static size_t to_units(Str text, uint32_t *units) {
    size_t count = 0;
    for (size_t i = 0; i < text.size;) {
        size_t size = 1;
        uint32_t character = (unsigned char)text.data[i];
        while (i + size < text.size && utf8_continues(text.data[i + size]))
            character = character << 8 | (unsigned char)text.data[i + size++];
        if (size == 4)
            units[count++] = 0xd800;
        units[count++] = character;
        i += size;
    }
    return count;
}

static void packs_to(Str text, size_t most) {
    Text packed = {0};
    pack_text(text, &packed);
    assert_false(packed.failed);
    assert_true(packed.size <= most);
    assert_null(memchr(packed.data, '<', packed.size));
    uint32_t *wanted = calloc(text.size + 1, sizeof *wanted), *read = calloc(packed.size + 1, sizeof *read);
    uint32_t *whole = calloc(text.size + 1, sizeof *whole);
    size_t count = to_units(text, wanted), size = 0;
    size_t colon = (size_t)((char *)memchr(packed.data, ':', packed.size) - packed.data);
    assert_int_equal(strtoul(packed.data, NULL, 10), count);
    size_t length = to_units((Str){packed.data + colon + 1, packed.size - colon - 1}, read);
    for (size_t i = 0; i < length; i++) {
        char next = (char)read[i + 1];
        if (read[i] != '~') {
            whole[size++] = read[i];
        } else if (next == '~' || next == '-') {
            whole[size++] = next == '-' ? '<' : '~';
            i++;
        } else {
            unsigned d[5];
            for (unsigned k = 0; k < 5; k++)
                d[k] = digit((char)read[i + 1 + k]);
            size_t back = d[0] * 4096 + d[1] * 64 + d[2], end = size + d[3] * 64 + d[4];
            assert_true(back && back <= size && end <= count);
            for (; size < end; size++)
                whole[size] = whole[size - back];
            i += 5;
        }
    }
    assert_int_equal(size, count);
    assert_memory_equal(whole, wanted, count * sizeof *whole);
    free(wanted);
    free(read);
    free(whole);
    text_free(&packed);
}

static void texts_come_back(void **state) {
    (void)state;
    packs_to(STR(""), 2);
    packs_to(STR("a"), 3);
    packs_to(STR("~~ < - ~- </script> <!-- &lt;"), 60);
    packs_to(STR("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"), 20);
    packs_to(
        STR("\xe2\x9c\x93 ordered \xe2\x9c\x97 MISSING \xe2\x9c\x93 ordered \xe2\x9c\x97 MISSING \xf0\x9f\x98\x80 and "
            "\xe2\x9c\x93 ordered \xe2\x9c\x97 MISSING \xf0\x9f\x98\x80 and \xf0\x9f\x98\x81 and"),
        120);
}

static void what_is_alike_takes_a_tenth(void **state) {
    (void)state;
    Text text = {0};
    for (unsigned i = 0; i < 500; i++)
        text_addf(&text,
                  "<details class=\"fold\" id=\"sites-%u\"><summary><h3>ring_%u_full</h3></summary><dl><div><dt>index"
                  "</dt><dd><code>accumCnt %% 3</code></dd></div></dl></details>\n",
                  i, i);
    assert_false(text.failed);
    packs_to((Str){text.data, text.size}, text.size / 7);
    text_free(&text);
}

/* Copies reach 2^18 units back, and no farther. */
static void long_texts_come_back(void **state) {
    (void)state;
    Text text = {0};
    uint32_t random = 1;
    text_addf(&text, "a line that comes again at the end\n");
    for (unsigned i = 0; i < 300000; i++) {
        random = random * 1664525 + 1013904223;
        text_char(&text, (char)('!' + random % 90));
    }
    text_addf(&text, "a line that comes again at the end\n");
    packs_to((Str){text.data, text.size}, 2 * text.size);
    text_free(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_come_back),
        cmocka_unit_test(what_is_alike_takes_a_tenth),
        cmocka_unit_test(long_texts_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
