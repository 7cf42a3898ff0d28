/* Finds the images of fatbins and ELF files, and unpacks those that are PTX. All numbers are little-endian. */
#include "ptx/images.h"

#include "ptx/unpack.h"

#include <stdlib.h>

typedef struct Finder {
    const unsigned char *data;
    size_t size;
    Images *images;
    size_t total;  /* bytes of the images so far */
    size_t looked; /* bytes of the sections */
    bool full;     /* no more are looked for */
} Finder;

/* ---- Numbers in a file ----------------------------------------------------------------------------------- */

static uint64_t number_at(const Finder *finder, size_t at, unsigned bytes) {
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes && at + i < finder->size; i++)
        value |= (uint64_t)finder->data[at + i] << 8 * i;
    return value;
}

/* Whether so many bytes stand there, of a file or of a part of it. */
static bool holds(size_t end, uint64_t begin, uint64_t size) {
    return begin <= end && size <= end - begin;
}

/* ---- Images ------------------------------------------------------------------------------------------------ */

static void add_image(Finder *finder, Image image) {
    if (finder->full)
        return;
    if (finder->images->count == IMAGES_MOST) {
        image = (Image){.kind = IMAGE_DAMAGED, .begin = image.begin, .problem = "it has more than 65536 images"};
        finder->full = true;
    } else if (image.kind == IMAGE_PTX && image.unpacked > IMAGES_LARGEST - finder->total) {
        image.problem = "with it the images of this file would have more than 1 GiB when they are unpacked; that much "
                        "is not read";
    } else if (image.kind == IMAGE_PTX) {
        finder->total += image.unpacked;
    }
    Images *images = finder->images;
    *ARENA_PUSH(&images->arena, images->items, images->count, images->capacity) = image;
}

static void add_damaged(Finder *finder, size_t at, const char *problem) {
    add_image(finder, (Image){.kind = IMAGE_DAMAGED, .begin = at, .problem = problem});
}

/* ---- ELF ----------------------------------------------------------------------------------------------------- */

static const char elf_magic[] = "\177ELF\2\1"; /* 64 bits, little-endian */
enum { ELF_HEADER = 64, ELF_SECTION = 64, ELF_NO_BYTES = 8, ELF_CUDA = 190 };

static bool is_elf(const Finder *finder, size_t begin, size_t end) {
    return end - begin >= ELF_HEADER && memcmp(finder->data + begin, elf_magic, sizeof elf_magic - 1) == 0;
}

typedef struct Section {
    size_t begin, end;
} Section;

typedef struct Elf {
    size_t begin, end, table, names, names_end;
    unsigned count;
} Elf;

/* A section's place in the file, which is cut off where the file ends. */
static Section section_place(const Finder *finder, const Elf *elf, unsigned index) {
    size_t at = elf->table + (size_t)index * ELF_SECTION;
    uint64_t begin = number_at(finder, at + 24, 8), size = number_at(finder, at + 32, 8);
    if (number_at(finder, at + 4, 4) == ELF_NO_BYTES || begin > elf->end - elf->begin)
        begin = size = 0;
    if (size > elf->end - elf->begin - begin)
        size = elf->end - elf->begin - begin;
    return (Section){elf->begin + begin, elf->begin + begin + size};
}

/* The table of sections; false if there is none in the file. */
static bool open_elf(const Finder *finder, size_t begin, size_t end, Elf *elf) {
    uint64_t table = number_at(finder, begin + 40, 8);
    *elf = (Elf){.begin = begin, .end = end, .count = (unsigned)number_at(finder, begin + 60, 2)};
    unsigned names = (unsigned)number_at(finder, begin + 62, 2);
    if (number_at(finder, begin + 58, 2) != ELF_SECTION ||
        !holds(end - begin, table, (uint64_t)elf->count * ELF_SECTION) || names >= elf->count)
        return false;
    elf->table = begin + table;
    Section place = section_place(finder, elf, names);
    elf->names = place.begin;
    elf->names_end = place.end;
    return true;
}

static bool is_named(const Finder *finder, const Elf *elf, unsigned index, const char *name) {
    uint64_t at = number_at(finder, elf->table + (size_t)index * ELF_SECTION, 4);
    size_t size = strlen(name) + 1;
    return holds(elf->names_end - elf->names, at, size) && memcmp(finder->data + elf->names + at, name, size) == 0;
}

/* Of a cubin; where its flags have it has changed with the version of its ABI. */
static unsigned cubin_capability(const Finder *finder, size_t begin) {
    uint64_t flags = number_at(finder, begin + 48, 4);
    return (unsigned)(finder->data[begin + 8] >= 8 ? flags >> 8 : flags) & 0xff;
}

/* The PTX that ptxas kept in a cubin. */
static void find_kept(Finder *finder, size_t begin, size_t end) {
    Elf elf;
    if (!is_elf(finder, begin, end) || !open_elf(finder, begin, end, &elf))
        return;
    for (unsigned i = 0; i < elf.count; i++) {
        Section section = section_place(finder, &elf, i);
        if (is_named(finder, &elf, i, ".nv_debug_ptx_txt"))
            add_image(finder, (Image){.kind = IMAGE_PTX,
                                      .packing = PACKED_LINES,
                                      .capability = cubin_capability(finder, begin),
                                      .begin = section.begin,
                                      .size = section.end - section.begin,
                                      .unpacked = section.end - section.begin});
    }
}

/* ---- Fatbins --------------------------------------------------------------------------------------------------- */

static const char fatbin_magic[] = "\x50\xed\x55\xba\1";
enum { FATBIN_HEADER = 16, IMAGE_HEADER = 64, FLAG_LZ4 = 0x2000, FLAG_ZSTD = 0x8000 };

static bool is_fatbin(const Finder *finder, size_t begin, size_t end) {
    return end - begin >= FATBIN_HEADER && memcmp(finder->data + begin, fatbin_magic, sizeof fatbin_magic) == 0;
}

/* An image of which header and bytes are in the file. */
static Image describe_image(const Finder *finder, size_t at, size_t begin, size_t size) {
    static const ImageKind kinds[] = {IMAGE_OTHER, IMAGE_PTX, IMAGE_CUBIN};
    uint64_t kind = number_at(finder, at, 2), flags = number_at(finder, at + 40, 8);
    uint64_t compressed = number_at(finder, at + 16, 4), unpacked = number_at(finder, at + 56, 8);
    Image image = {.kind = kind < sizeof kinds / sizeof *kinds ? kinds[kind] : IMAGE_OTHER,
                   .capability = (unsigned)number_at(finder, at + 28, 4),
                   .begin = begin,
                   .size = size,
                   .unpacked = size};
    if (!compressed)
        return image;
    image.packing = flags & FLAG_ZSTD ? PACKED_ZSTD : flags & FLAG_LZ4 ? PACKED_LZ4 : PACKED_OTHER;
    image.unpacked = unpacked > SIZE_MAX ? SIZE_MAX : (size_t)unpacked;
    if (compressed > size)
        image.problem = "it is said to be longer than what is there of it";
    else
        image.size = (size_t)compressed;
    return image;
}

/* The images of one fatbin; returns where it ends. */
static size_t find_images(Finder *finder, size_t begin, size_t end) {
    uint64_t header = number_at(finder, begin + 6, 2), files = number_at(finder, begin + 8, 8);
    if (header < FATBIN_HEADER || !holds(end - begin, header, files)) {
        add_damaged(finder, begin, "a fatbin is cut off, or damaged: it is said to be longer than what is there");
        return end;
    }
    size_t at = begin + header, last = at + files;
    while (at < last && !finder->full) {
        uint64_t size = number_at(finder, at + 8, 8), head = number_at(finder, at + 4, 4);
        if (last - at < IMAGE_HEADER || head < IMAGE_HEADER || !holds(last - at, head, size)) {
            add_damaged(finder, at, "an image of a fatbin is cut off, or damaged: what follows is not looked at");
            break;
        }
        Image image = describe_image(finder, at, at + head, size);
        add_image(finder, image);
        if (image.kind == IMAGE_CUBIN && image.packing == PACKED_NOT)
            find_kept(finder, image.begin, image.begin + image.size);
        at += head + size;
    }
    return last;
}

/* All fatbins of a part of the file: they start at multiples of eight, with zeros between them. */
static void find_fatbins(Finder *finder, size_t begin, size_t end) {
    size_t at = begin;
    while (end - at >= FATBIN_HEADER && !finder->full) {
        size_t next = at + 8;
        if (is_fatbin(finder, at, end))
            next = find_images(finder, at, end);
        at = next + (begin - next) % 8;
        if (at > end || at < next)
            break;
    }
}

/* Sections that lie over each other are not gone through again and again. */
static void find_in_section(Finder *finder, Section section) {
    finder->looked += section.end - section.begin;
    if (finder->looked <= finder->size) {
        find_fatbins(finder, section.begin, section.end);
        return;
    }
    add_damaged(finder, section.begin, "its sections overlap: the file is damaged");
    finder->full = true;
}

static void find_in_elf(Finder *finder, size_t begin, size_t end) {
    Elf elf;
    if (number_at(finder, begin + 18, 2) == ELF_CUDA) {
        add_image(finder, (Image){.kind = IMAGE_CUBIN,
                                  .capability = cubin_capability(finder, begin),
                                  .begin = begin,
                                  .size = end - begin,
                                  .unpacked = end - begin});
        find_kept(finder, begin, end);
    } else if (!open_elf(finder, begin, end, &elf)) {
        add_damaged(finder, begin, "this ELF file has no table of sections, in which fatbins are found");
    } else {
        for (unsigned i = 0; i < elf.count && !finder->full; i++)
            if (is_named(finder, &elf, i, ".nv_fatbin") || is_named(finder, &elf, i, "__nv_relfatbin"))
                find_in_section(finder, section_place(finder, &elf, i));
    }
}

/* ---- A file ------------------------------------------------------------------------------------------------------ */

static Finder finder_of(const Source *source, Images *images) {
    return (Finder){.data = (const unsigned char *)source->data, .size = source->size, .images = images};
}

bool images_in(const Source *source) {
    Finder finder = finder_of(source, NULL);
    return is_elf(&finder, 0, source->size) || is_fatbin(&finder, 0, source->size);
}

/* That nothing is there to be read must not look as if all had been read. */
static void say_none(Finder *finder) {
    for (uint32_t i = 0; i < finder->images->count; i++)
        if (finder->images->items[i].kind == IMAGE_PTX || finder->images->items[i].problem)
            return;
    add_damaged(finder, 0,
                finder->images->count ? "there is no PTX in it, only machine code, which is not read"
                                      : "there is no PTX in it");
}

bool images_find(const Source *source, Images *images) {
    *images = (Images){0};
    Finder finder = finder_of(source, images);
    jmp_buf exhausted;
    arena_init(&images->arena, (size_t)64 << 20);
    if (setjmp(exhausted) != 0) {
        images_free(images);
        return false;
    }
    images->arena.exhausted = &exhausted;
    if (is_elf(&finder, 0, source->size))
        find_in_elf(&finder, 0, source->size);
    else
        find_fatbins(&finder, 0, source->size);
    say_none(&finder);
    images->arena.exhausted = NULL;
    return true;
}

void images_free(Images *images) {
    arena_free(&images->arena);
    *images = (Images){0};
}

/* ---- Text ----------------------------------------------------------------------------------------------------------
 */

static bool unpack(const Image *image, const char *from, char *to) {
    const unsigned char *bytes = (const unsigned char *)from;
    switch (image->packing) {
    case PACKED_LZ4:
        return unpack_lz4(bytes, image->size, (unsigned char *)to, image->unpacked);
    case PACKED_ZSTD:
        return unpack_zstd(bytes, image->size, (unsigned char *)to, image->unpacked);
    default:
        memcpy(to, from, image->size);
        return true;
    }
}

static const char *problem_of(const Image *image) {
    if (image->problem)
        return image->problem;
    if (image->packing == PACKED_ZSTD && !has_zstd)
        return "it is compressed with zstd, which this build of Weir cannot unpack, and was not read";
    if (image->packing == PACKED_OTHER)
        return "it is compressed in a way that is not known, and was not read";
    /* A byte of LZ4 stands for 255 at most. */
    if (image->packing == PACKED_LZ4 && image->unpacked / 255 > image->size)
        return "it is damaged: it cannot be unpacked";
    return NULL;
}

Source *image_text(const Source *source, const Image *image, const char **problem) {
    *problem = problem_of(image);
    if (*problem)
        return NULL;
    char *text = malloc(image->unpacked + 1);
    Source *made = NULL;
    if (!text) {
        *problem = "there is not enough memory";
    } else if (!unpack(image, source->data + image->begin, text)) {
        *problem = "it is damaged: it cannot be unpacked";
    } else {
        size_t size = image->unpacked;
        while (size && !text[size - 1])
            size--; /* what fills it up to a multiple of eight */
        for (size_t i = 0; i < size && image->packing == PACKED_LINES; i++)
            if (!text[i])
                text[i] = '\n';
        if (image->packing == PACKED_LINES)
            text[size++] = '\n'; /* the last line's own end was among those zeros */
        made = source_copy(source->name, text, size);
        if (!made)
            *problem = "there is not enough memory";
    }
    free(text);
    return made;
}
