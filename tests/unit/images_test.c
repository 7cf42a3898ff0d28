/* PTX in fatbins, cubins and ELF files: made by hand, right and damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ptx/images.h"
#include "ptx/unpack.h"

#include <stdio.h>
#include <stdlib.h>

enum { HEADER = 16, IMAGE = 64, SECTION = 64 };

typedef struct Bytes {
    unsigned char data[4096];
    size_t size;
} Bytes;

static void put(Bytes *bytes, size_t at, uint64_t value, unsigned size) {
    for (unsigned i = 0; i < size; i++)
        bytes->data[at + i] = (unsigned char)(value >> 8 * i);
    if (at + size > bytes->size)
        bytes->size = at + size;
}

static void put_text(Bytes *bytes, size_t at, const char *text, size_t size) {
    memcpy(bytes->data + at, text, size);
    if (at + size > bytes->size)
        bytes->size = at + size;
}

/* A fatbin with one image at `at`; returns where the image's header is. */
static size_t put_fatbin(Bytes *bytes, size_t at, unsigned kind, const char *payload, size_t size) {
    put(bytes, at, 0xba55ed50, 4);
    put(bytes, at + 4, 1, 2);
    put(bytes, at + 6, HEADER, 2);
    put(bytes, at + 8, IMAGE + size, 8);
    size_t image = at + HEADER;
    put(bytes, image, kind, 2);
    put(bytes, image + 4, IMAGE, 4);
    put(bytes, image + 8, size, 8);
    put(bytes, image + 28, 90, 4);
    put(bytes, image + IMAGE - 1, 0, 1);
    put_text(bytes, image + IMAGE, payload, size);
    return image;
}

static void put_packed(Bytes *bytes, size_t image, size_t compressed, unsigned flags, uint64_t unpacked) {
    put(bytes, image + 16, compressed, 4);
    put(bytes, image + 40, flags, 8);
    put(bytes, image + 56, unpacked, 8);
}

/* An ELF file of two sections, of which the second has that name and place. */
static void put_elf(Bytes *bytes, unsigned machine, const char *name, size_t begin, size_t size) {
    enum { NAMES = 64, TABLE = 128 };
    put_text(bytes, 0, "\177ELF\2\1\1", 7);
    put(bytes, 8, 8, 1); /* version of the ABI */
    put(bytes, 18, machine, 2);
    put(bytes, 40, TABLE, 8);
    put(bytes, 48, 0x5a04, 4);
    put(bytes, 58, SECTION, 2);
    put(bytes, 60, 2, 2);
    put_text(bytes, NAMES, name, strlen(name) + 1);
    put(bytes, TABLE, 60, 4); /* no name */
    put(bytes, TABLE + 24, NAMES, 8);
    put(bytes, TABLE + 32, 64, 8);
    put(bytes, TABLE + SECTION + 24, begin, 8);
    put(bytes, TABLE + SECTION + 32, size, 8);
    put(bytes, TABLE + 2 * SECTION - 1, 0, 1);
}

typedef struct Found {
    Source *source;
    Images images;
} Found;

static Found find(const Bytes *bytes) {
    Found found = {.source = source_copy("made", (const char *)bytes->data, bytes->size)};
    assert_non_null(found.source);
    assert_true(images_in(found.source));
    assert_true(images_find(found.source, &found.images));
    return found;
}

static void done(Found *found) {
    images_free(&found->images);
    source_free(found->source);
}

/* The text of an image; or, with `problem`, that there is none, and that this stands in the reason. */
static void expect_text(const Found *found, uint32_t index, const char *text, const char *problem) {
    const char *said = NULL;
    assert_true(index < found->images.count);
    Source *made = image_text(found->source, &found->images.items[index], &said);
    if (problem) {
        assert_null(made);
        assert_non_null(strstr(said, problem));
        return;
    }
    assert_non_null(made);
    assert_int_equal(made->size, strlen(text));
    assert_memory_equal(made->data, text, made->size);
    source_free(made);
}

static const char ptx[] = ".version 8.0\n";
enum { PTX_SIZE = sizeof ptx - 1 };

static void plain_fatbin(void **state) {
    (void)state;
    Bytes bytes = {0};
    put_fatbin(&bytes, 0, 1, ".version 8.0\n\0\0\0", 16);
    Found found = find(&bytes);
    assert_int_equal(found.images.count, 1);
    assert_int_equal(found.images.items[0].kind, IMAGE_PTX);
    assert_int_equal(found.images.items[0].capability, 90);
    expect_text(&found, 0, ptx, NULL);
    done(&found);
}

/* 13 newlines: a literal, and a match of 12 with it; then a last literal. */
static const char lz4[8] = "\x18\n\1\0\x10x"; /* and what fills it up to a multiple of 8 */
enum { LZ4_SIZE = 6 };
static const char lz4_text[] = "\n\n\n\n\n\n\n\n\n\n\n\n\nx";

static void lz4_image(void **state) {
    (void)state;
    Bytes bytes = {0};
    put_packed(&bytes, put_fatbin(&bytes, 0, 1, lz4, 8), LZ4_SIZE, 0x2011, sizeof lz4_text - 1);
    Found found = find(&bytes);
    assert_int_equal(found.images.items[0].packing, PACKED_LZ4);
    expect_text(&found, 0, lz4_text, NULL);
    done(&found);
    bytes.data[HEADER + 56]++; /* it is said to be longer than it is */
    found = find(&bytes);
    expect_text(&found, 0, NULL, "damaged");
    done(&found);
}

static void lz4_hostile(void **state) {
    (void)state;
    unsigned char to[64];
    assert_true(unpack_lz4((const unsigned char *)lz4, LZ4_SIZE, to, sizeof lz4_text - 1));
    assert_memory_equal(to, lz4_text, sizeof lz4_text - 1);
    static const struct {
        const char *bytes;
        size_t size;
    } bad[] = {
        {"\x10", 1},                /* a literal that is not there */
        {"\xf0\xff\xff", 3},        /* a length without an end */
        {"\x10x\2\0\x10x", 6},      /* a match with what is before the text */
        {"\x10x\0\0\x10x", 6},      /* a match with itself */
        {"\x1fx\1\0\xff\xff\0", 7}, /* a match that runs over the end */
        {"\x10x\1", 3},             /* half a distance */
        {"", 0},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(unpack_lz4((const unsigned char *)bad[i].bytes, bad[i].size, to, sizeof to));
}

/* A frame of zstd with one raw block, as RFC 8878 has it. */
static void zstd_image(void **state) {
    (void)state;
    static const char frame[24] = "\x28\xb5\x2f\xfd\x20\x0d\x69\0\0.version 8.0\n";
    Bytes bytes = {0};
    put_packed(&bytes, put_fatbin(&bytes, 0, 1, frame, 24), 22, 0x8011, PTX_SIZE);
    Found found = find(&bytes);
    assert_int_equal(found.images.items[0].packing, PACKED_ZSTD);
    if (has_zstd)
        expect_text(&found, 0, ptx, NULL);
    else
        expect_text(&found, 0, NULL, "compressed with zstd, which this build of Weir cannot unpack");
    done(&found);
}

static void packed_somehow(void **state) {
    (void)state;
    Bytes bytes = {0};
    put_packed(&bytes, put_fatbin(&bytes, 0, 1, lz4, 8), 6, 0x11, 14);
    Found found = find(&bytes);
    expect_text(&found, 0, NULL, "in a way that is not known");
    done(&found);
}

static void bombs(void **state) {
    (void)state;
    Bytes bytes = {0};
    size_t image = put_fatbin(&bytes, 0, 1, lz4, 8);
    put_packed(&bytes, image, 6, 0x2011, (uint64_t)1 << 40);
    Found found = find(&bytes);
    expect_text(&found, 0, NULL, "more than 1 GiB");
    done(&found);
    put_packed(&bytes, image, 6, 0x2011, 1 << 20); /* more than LZ4 can make of it */
    found = find(&bytes);
    expect_text(&found, 0, NULL, "damaged");
    done(&found);
    put_packed(&bytes, image, 600, 0x2011, 14);
    found = find(&bytes);
    expect_text(&found, 0, NULL, "longer than what is there");
    done(&found);
}

static void no_ptx(void **state) {
    (void)state;
    Bytes bytes = {0};
    put_fatbin(&bytes, 0, 2, "machine code\0\0\0", 16);
    Found found = find(&bytes);
    assert_int_equal(found.images.count, 2);
    assert_int_equal(found.images.items[0].kind, IMAGE_CUBIN);
    expect_text(&found, 1, NULL, "no PTX in it, only machine code");
    done(&found);
}

static void cut_off(void **state) {
    (void)state;
    Bytes bytes = {0};
    put_fatbin(&bytes, 0, 1, ptx, PTX_SIZE);
    for (size_t size = HEADER; size < bytes.size; size++) {
        Bytes part = bytes;
        part.size = size;
        Found found = find(&part);
        assert_int_equal(found.images.items[0].kind, IMAGE_DAMAGED);
        done(&found);
    }
    put(&bytes, HEADER + 8, UINT64_MAX, 8); /* the image's size */
    Found found = find(&bytes);
    expect_text(&found, 0, NULL, "cut off, or damaged");
    done(&found);
}

static void in_elf(void **state) {
    (void)state;
    Bytes bytes = {0};
    enum { AT = 512 };
    put_fatbin(&bytes, AT, 1, ".version 8.0\n\0\0\0", 16);
    put_fatbin(&bytes, AT + 96, 1, ptx, PTX_SIZE); /* linked behind the first */
    put_elf(&bytes, 62, ".nv_fatbin", AT, bytes.size - AT);
    Found found = find(&bytes);
    assert_int_equal(found.images.count, 2);
    expect_text(&found, 0, ptx, NULL);
    expect_text(&found, 1, ptx, NULL);
    done(&found);
    put_elf(&bytes, 62, ".nv_fatbit", AT, bytes.size - AT);
    found = find(&bytes);
    expect_text(&found, 0, NULL, "no PTX in it");
    done(&found);
    put(&bytes, 40, UINT64_MAX - 64, 8); /* the table of sections */
    found = find(&bytes);
    expect_text(&found, 0, NULL, "cut off, or damaged: its table of sections");
    expect_text(&found, 1, ptx, NULL); /* the fatbins are found without it */
    expect_text(&found, 2, ptx, NULL);
    done(&found);
}

/* Programs may have lost their table of sections, on purpose. */
static void stripped(void **state) {
    (void)state;
    Bytes bytes = {0};
    enum { AT = 512 };
    put_elf(&bytes, 62, ".nv_fatbin", AT, 64);
    put_fatbin(&bytes, AT, 1, ptx, PTX_SIZE);
    put(&bytes, 40, 0, 8);
    put(&bytes, 60, 0, 4);
    Found found = find(&bytes);
    assert_int_equal(found.images.count, 1);
    expect_text(&found, 0, ptx, NULL);
    done(&found);
    bytes.size = AT;
    found = find(&bytes);
    expect_text(&found, 0, NULL, "has no table of sections, and no fatbin was found");
    done(&found);
}

/* With 65,280 sections or more their number, and that of their names, stand in the first row. */
static void many_sections(void **state) {
    (void)state;
    Bytes bytes = {0};
    enum { AT = 512, TABLE = 128 };
    put_fatbin(&bytes, AT, 1, ptx, PTX_SIZE);
    put_elf(&bytes, 62, ".nv_fatbin", AT, bytes.size - AT);
    memcpy(bytes.data + TABLE + 2 * SECTION, bytes.data + TABLE, SECTION); /* the names are section 2 now */
    put(&bytes, TABLE + 32, 3, 8);
    put(&bytes, TABLE + 40, 2, 4);
    put(&bytes, 60, 0, 2);
    put(&bytes, 62, 0xffff, 2);
    Found found = find(&bytes);
    assert_int_equal(found.images.count, 1);
    expect_text(&found, 0, ptx, NULL);
    done(&found);
    put(&bytes, TABLE + 32, (uint64_t)1 << 60, 8);
    found = find(&bytes);
    expect_text(&found, 0, NULL, "cut off, or damaged: its table of sections");
    done(&found);
}

/* ---- Archives ---- */

/* A member; returns where the next one goes. */
static size_t put_member(Bytes *bytes, size_t at, const char *name, const void *data, size_t size) {
    char header[61];
    snprintf(header, sizeof header, "%-16s%-12d%-6d%-6d%-8d%-10zu`\n", name, 0, 0, 0, 644, size);
    put_text(bytes, at, header, 60);
    put_text(bytes, at + 60, data, size);
    if (size % 2)
        put_text(bytes, at + 60 + size, "\n", 1);
    return at + 60 + size + size % 2;
}

static void expect_member(const Found *found, uint32_t index, const char *name) {
    Str member = found->images.items[index].member;
    assert_int_equal(member.size, strlen(name));
    assert_memory_equal(member.data, name, member.size);
}

/* An archive with names of every kind: short, in the table of long ones, and before the bytes; and where its last
 * member starts. */
static Bytes made_archive(size_t *last) {
    enum { AT = 512 };
    Bytes object = {0}, fatbin = {0}, named = {0}, bytes = {0};
    put_fatbin(&object, AT, 1, ptx, PTX_SIZE);
    put_elf(&object, 62, "__nv_relfatbin", AT, object.size - AT);
    put_fatbin(&fatbin, 0, 1, ".version 7.0\n\0\0\0", 16);
    put_text(&named, 0, "with blanks.o\0\0\0", 16);
    put_fatbin(&named, 16, 1, ptx, PTX_SIZE);
    put_text(&bytes, 0, "!<arch>\n", 8);
    size_t at = put_member(&bytes, 8, "/", "\0\0\0", 3); /* symbols */
    at = put_member(&bytes, at, "//", "first/\na_name_that_is_long.o/\n", 30);
    at = put_member(&bytes, at, "readme.txt/", "nothing", 7);
    at = put_member(&bytes, at, "short.o/", object.data, object.size);
    at = put_member(&bytes, at, "/7", fatbin.data, fatbin.size);
    *last = at;
    put_member(&bytes, at, "#1/16", named.data, named.size);
    return bytes;
}

static void in_archive(void **state) {
    (void)state;
    size_t last;
    Bytes bytes = made_archive(&last);
    Found found = find(&bytes);
    assert_int_equal(found.images.count, 3);
    expect_text(&found, 0, ptx, NULL);
    expect_member(&found, 0, "short.o");
    expect_text(&found, 1, ".version 7.0\n", NULL);
    expect_member(&found, 1, "a_name_that_is_long.o");
    expect_text(&found, 2, ptx, NULL);
    expect_member(&found, 2, "with blanks.o");
    done(&found);
}

static void archive_damaged(void **state) {
    (void)state;
    size_t last;
    Bytes bytes = made_archive(&last);
    size_t size = bytes.size;
    for (bytes.size = last + 1; bytes.size < size - 1; bytes.size++) {
        Found found = find(&bytes);
        bool said = false;
        for (uint32_t i = 0; i < found.images.count; i++)
            said |= found.images.items[i].problem != NULL;
        assert_true(said);
        done(&found);
    }
    bytes.size = 8;
    Found found = find(&bytes);
    expect_text(&found, 0, NULL, "there is no PTX in it");
    done(&found);
    put_text(&bytes, 0, "!<thin>\n", 8);
    found = find(&bytes);
    expect_text(&found, 0, NULL, "a thin archive");
    done(&found);
}

static void sections_overlap(void **state) {
    (void)state;
    Bytes bytes = {0};
    put_elf(&bytes, 62, ".nv_fatbin", 0, 4096);
    put(&bytes, 60, 3, 2);
    memcpy(bytes.data + 256, bytes.data + 192, SECTION);
    bytes.size = 400;
    Found found = find(&bytes);
    expect_text(&found, found.images.count - 1, NULL, "overlap");
    done(&found);
}

static void in_cubin(void **state) {
    (void)state;
    Bytes bytes = {0};
    put_text(&bytes, 512, ".version 8.0\0.target sm_90\0\0", 28);
    put_elf(&bytes, 190, ".nv_debug_ptx_txt", 512, 28);
    Found found = find(&bytes);
    assert_int_equal(found.images.count, 2);
    assert_int_equal(found.images.items[0].kind, IMAGE_CUBIN);
    assert_int_equal(found.images.items[1].capability, 90);
    expect_text(&found, 1, ".version 8.0\n.target sm_90\n", NULL);
    done(&found);
}

/* As LZ4 that is all literals; returns its size. */
static size_t pack(unsigned char *to, const Bytes *bytes) {
    size_t size = 0, left = bytes->size - 15;
    to[size++] = 0xf0;
    for (; left >= 255; left -= 255)
        to[size++] = 255;
    to[size++] = (unsigned char)left;
    memcpy(to + size, bytes->data, bytes->size);
    return size + bytes->size;
}

static void in_packed_cubin(void **state) {
    (void)state;
    Bytes cubin = {0}, bytes = {0};
    unsigned char packed[4096];
    put_text(&cubin, 512, ".version 8.0\0.target sm_90\0\0", 28);
    put_elf(&cubin, 190, ".nv_debug_ptx_txt", 512, 28);
    size_t size = pack(packed, &cubin);
    put_packed(&bytes, put_fatbin(&bytes, 0, 2, (const char *)packed, size), size, 0x2011, cubin.size);
    Found found = find(&bytes);
    assert_int_equal(found.images.count, 2);
    assert_int_equal(found.images.items[0].kind, IMAGE_CUBIN);
    assert_true(found.images.items[1].kept);
    assert_int_equal(found.images.items[1].unpacked, 28);
    expect_text(&found, 1, ".version 8.0\n.target sm_90\n", NULL);
    done(&found);
    bytes.data[HEADER + IMAGE] = 0; /* no literals: it cannot be unpacked */
    found = find(&bytes);
    assert_int_equal(found.images.count, 2);
    expect_text(&found, 1, NULL, "could not be looked into");
    done(&found);
}

static void other_files(void **state) {
    (void)state;
    static const char *const texts[] = {"", ".version 8.0\n", "\177ELF",
                                        "\177ELF\1\1 of 32 bits, which no such program is any more....."};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        Source *source = source_copy("made", texts[i], strlen(texts[i]));
        assert_false(images_in(source));
        source_free(source);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_fatbin),     cmocka_unit_test(lz4_image),       cmocka_unit_test(lz4_hostile),
        cmocka_unit_test(zstd_image),       cmocka_unit_test(bombs),           cmocka_unit_test(packed_somehow),
        cmocka_unit_test(no_ptx),           cmocka_unit_test(cut_off),         cmocka_unit_test(in_elf),
        cmocka_unit_test(sections_overlap), cmocka_unit_test(in_cubin),        cmocka_unit_test(other_files),
        cmocka_unit_test(stripped),         cmocka_unit_test(many_sections),   cmocka_unit_test(in_archive),
        cmocka_unit_test(archive_damaged),  cmocka_unit_test(in_packed_cubin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
