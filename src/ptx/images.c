/* Finds the images of fatbins, ELF files and archives, and unpacks those that are PTX. All numbers are little-endian.
 */
#include "ptx/images.h"

#include "ptx/unpack.h"

#include <stdlib.h>

typedef struct Finder {
    const unsigned char *data;
    size_t size;
    Images *images;
    size_t total;  /* bytes of the images so far */
    size_t looked; /* bytes of the sections */
    size_t opened; /* bytes of cubins that were unpacked */
    Str member;    /* of an archive; empty: it is none */
    bool closed;   /* there is a cubin that could not be unpacked */
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
    image.member = finder->member;
    Images *images = finder->images;
    *ARENA_PUSH(&images->arena, images->items, images->count, images->capacity) = image;
}

static void add_damaged(Finder *finder, size_t at, const char *problem) {
    add_image(finder, (Image){.kind = IMAGE_DAMAGED, .begin = at, .problem = problem});
}

/* ---- Unpacking --------------------------------------------------------------------------------------------- */

/* Why not, before it is tried; NULL: no reason is known. */
static const char *cannot_unpack(ImagePacking packing, size_t size, size_t unpacked) {
    if (packing == PACKED_ZSTD && !has_zstd)
        return "it is compressed with zstd, which this build of Weir cannot unpack, and was not read";
    if (packing == PACKED_OTHER)
        return "it is compressed in a way that is not known, and was not read";
    /* A byte of LZ4 stands for 255 at most. */
    if (packing == PACKED_LZ4 && unpacked / 255 > size)
        return "it is damaged: it cannot be unpacked";
    return NULL;
}

/* The bytes, to be freed; NULL with a sentence. */
static unsigned char *unpack(const unsigned char *from, ImagePacking packing, size_t size, size_t unpacked,
                             const char **problem) {
    *problem = cannot_unpack(packing, size, unpacked);
    if (*problem)
        return NULL;
    unsigned char *to = malloc(unpacked + 1);
    if (!to) {
        *problem = "there is not enough memory";
        return NULL;
    }
    bool good = packing == PACKED_LZ4    ? unpack_lz4(from, size, to, unpacked)
                : packing == PACKED_ZSTD ? unpack_zstd(from, size, to, unpacked)
                                         : memcpy(to, from, unpacked) != NULL;
    if (good)
        return to;
    *problem = "it is damaged: it cannot be unpacked";
    free(to);
    return NULL;
}

/* ---- ELF ----------------------------------------------------------------------------------------------------- */

static const char elf_magic[] = "\177ELF\2\1"; /* 64 bits, little-endian */
enum { ELF_HEADER = 64, ELF_SECTION = 64, ELF_NO_BYTES = 8, ELF_CUDA = 190, ELF_NAMES_ELSEWHERE = 0xffff };

static bool is_elf(const Finder *finder, size_t begin, size_t end) {
    return end - begin >= ELF_HEADER && memcmp(finder->data + begin, elf_magic, sizeof elf_magic - 1) == 0;
}

typedef struct ImageSection {
    size_t begin, end;
} ImageSection;

typedef struct Elf {
    size_t begin, end, table, names, names_end;
    unsigned count;
} Elf;

/* A section's place in the file, which is cut off where the file ends. */
static ImageSection section_place(const Finder *finder, const Elf *elf, unsigned index) {
    size_t at = elf->table + (size_t)index * ELF_SECTION;
    uint64_t begin = number_at(finder, at + 24, 8), size = number_at(finder, at + 32, 8);
    if (number_at(finder, at + 4, 4) == ELF_NO_BYTES || begin > elf->end - elf->begin)
        begin = size = 0;
    if (size > elf->end - elf->begin - begin)
        size = elf->end - elf->begin - begin;
    return (ImageSection){elf->begin + begin, elf->begin + begin + size};
}

static uint64_t table_place(const Finder *finder, size_t begin) {
    return number_at(finder, begin + 40, 8);
}

/* The table of sections; false if there is none in the file. Numbers that two bytes cannot hold are in its first row.
 */
static bool open_elf(const Finder *finder, size_t begin, size_t end, Elf *elf) {
    uint64_t table = table_place(finder, begin), count = number_at(finder, begin + 60, 2);
    uint64_t names = number_at(finder, begin + 62, 2);
    if (number_at(finder, begin + 58, 2) != ELF_SECTION || !table || !holds(end - begin, table, ELF_SECTION))
        return false;
    if (!count)
        count = number_at(finder, begin + (size_t)table + 32, 8);
    if (names == ELF_NAMES_ELSEWHERE)
        names = number_at(finder, begin + (size_t)table + 40, 4);
    if (count > (end - begin - table) / ELF_SECTION || names >= count || count > UINT32_MAX)
        return false;
    *elf = (Elf){.begin = begin, .end = end, .count = (unsigned)count, .table = begin + (size_t)table};
    ImageSection place = section_place(finder, elf, (unsigned)names);
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

enum { MOST_KEPT = 4 }; /* texts in a cubin; ptxas writes one */

/* Where the PTX is that ptxas kept in a cubin, if this is one; returns how many texts there are. */
static unsigned kept_sections(const Finder *bytes, size_t begin, size_t end, ImageSection *sections) {
    Elf elf;
    unsigned count = 0;
    if (!is_elf(bytes, begin, end) || !open_elf(bytes, begin, end, &elf))
        return 0;
    for (unsigned i = 0; i < elf.count && count < MOST_KEPT; i++)
        if (is_named(bytes, &elf, i, ".nv_debug_ptx_txt"))
            sections[count++] = section_place(bytes, &elf, i);
    return count;
}

static void find_kept(Finder *finder, size_t begin, size_t end) {
    ImageSection sections[MOST_KEPT];
    unsigned count = kept_sections(finder, begin, end, sections);
    for (unsigned i = 0; i < count; i++)
        add_image(finder, (Image){.kind = IMAGE_PTX,
                                  .kept = true,
                                  .capability = cubin_capability(finder, begin),
                                  .begin = sections[i].begin,
                                  .size = sections[i].end - sections[i].begin,
                                  .unpacked = sections[i].end - sections[i].begin});
}

/* The same of a compressed cubin. One that cannot be unpacked is only remembered: machine code is not read anyway. */
static void find_kept_packed(Finder *finder, const Image *cubin) {
    const char *problem;
    ImageSection sections[MOST_KEPT];
    unsigned char *data = NULL;
    if (!cubin->problem && cubin->unpacked <= IMAGES_LARGEST - finder->opened) {
        finder->opened += cubin->unpacked;
        data = unpack(finder->data + cubin->begin, cubin->packing, cubin->size, cubin->unpacked, &problem);
    }
    finder->closed |= !data;
    if (!data)
        return;
    Finder bytes = {.data = data, .size = cubin->unpacked};
    unsigned count = kept_sections(&bytes, 0, cubin->unpacked, sections);
    free(data);
    for (unsigned i = 0; i < count; i++) {
        Image image = *cubin;
        image.kind = IMAGE_PTX;
        image.kept = true;
        image.cubin = cubin->unpacked;
        image.within = sections[i].begin;
        image.unpacked = sections[i].end - sections[i].begin;
        add_image(finder, image);
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
            add_damaged(finder, at, "an image of a fatbin is cut off, or damaged: what follows is not checked");
            break;
        }
        Image image = describe_image(finder, at, at + head, size);
        add_image(finder, image);
        if (image.kind == IMAGE_CUBIN && image.packing == PACKED_NOT)
            find_kept(finder, image.begin, image.begin + image.size);
        else if (image.kind == IMAGE_CUBIN)
            find_kept_packed(finder, &image);
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
static void find_in_section(Finder *finder, ImageSection section) {
    finder->looked += section.end - section.begin;
    if (finder->looked <= finder->size) {
        find_fatbins(finder, section.begin, section.end);
        return;
    }
    add_damaged(finder, section.begin, "its sections overlap: the file is damaged");
    finder->full = true;
}

/* Programs of which the table of sections was taken off still have their fatbins, at multiples of eight. A table that
 * lies beyond the end says that some of the file is missing. */
static void find_without_sections(Finder *finder, size_t begin, size_t end) {
    uint32_t before = finder->images->count;
    if (table_place(finder, begin))
        add_damaged(finder, begin,
                    "this ELF file is cut off, or damaged: its table of sections is not where it is said to be");
    find_in_section(finder, (ImageSection){begin, end});
    if (finder->images->count == before && !finder->member.size)
        add_damaged(finder, begin, "this ELF file has no table of sections, and no fatbin was found in its bytes");
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
        find_without_sections(finder, begin, end);
    } else {
        for (unsigned i = 0; i < elf.count && !finder->full; i++)
            if (is_named(finder, &elf, i, ".nv_fatbin") || is_named(finder, &elf, i, "__nv_relfatbin"))
                find_in_section(finder, section_place(finder, &elf, i));
    }
}

/* ---- Archives -------------------------------------------------------------------------------------------------- */

static const char archive_magic[] = "!<arch>\n", thin_magic[] = "!<thin>\n";
enum { ARCHIVE_MAGIC = 8, MEMBER_HEADER = 60, MEMBER_NAME = 16, MEMBER_SIZE = 48, MEMBER_SIZE_DIGITS = 10 };

static bool is_archive(const Finder *finder) {
    return finder->size >= ARCHIVE_MAGIC && (memcmp(finder->data, archive_magic, ARCHIVE_MAGIC) == 0 ||
                                             memcmp(finder->data, thin_magic, ARCHIVE_MAGIC) == 0);
}

/* Decimal digits, blanks behind them. */
static uint64_t digits_at(const Finder *finder, size_t at, unsigned most) {
    uint64_t value = 0;
    for (unsigned i = 0; i < most && finder->data[at + i] >= '0' && finder->data[at + i] <= '9'; i++)
        value = 10 * value + (finder->data[at + i] - '0');
    return value;
}

/* Up to '/', a line's end, a zero or `most` bytes. */
static Str name_at(const Finder *finder, size_t at, size_t most) {
    const char *text = (const char *)finder->data + at;
    size_t size = 0;
    while (size < most && text[size] != '/' && text[size] != '\n' && text[size])
        size++;
    return (Str){text, size};
}

/* The name of the member whose header is at `at`; its bytes begin behind one that stands before them ("#1/20"). */
static Str member_name(const Finder *finder, size_t at, ImageSection long_names, ImageSection *bytes) {
    const char *name = (const char *)finder->data + at;
    if (memcmp(name, "#1/", 3) == 0) {
        uint64_t size = digits_at(finder, at + 3, MEMBER_NAME - 3);
        if (size > bytes->end - bytes->begin)
            size = bytes->end - bytes->begin;
        Str given = name_at(finder, bytes->begin, (size_t)size);
        bytes->begin += (size_t)size;
        return given;
    }
    uint64_t place = name[0] == '/' ? digits_at(finder, at + 1, MEMBER_NAME - 1) : 0;
    if (name[0] == '/' && place < long_names.end - long_names.begin)
        return name_at(finder, long_names.begin + (size_t)place, long_names.end - long_names.begin - (size_t)place);
    return name_at(finder, at, MEMBER_NAME);
}

static void find_in_member(Finder *finder, ImageSection bytes) {
    if (is_elf(finder, bytes.begin, bytes.end))
        find_in_elf(finder, bytes.begin, bytes.end);
    else if (is_fatbin(finder, bytes.begin, bytes.end))
        find_fatbins(finder, bytes.begin, bytes.end);
}

/* Members start at even places; "//" has the names that are too long for a header. */
static void find_in_archive(Finder *finder) {
    if (memcmp(finder->data, thin_magic, ARCHIVE_MAGIC) == 0) {
        add_damaged(finder, 0,
                    "this is a thin archive: its objects are files of their own, which have to be given themselves");
        return;
    }
    ImageSection long_names = {0, 0};
    for (size_t at = ARCHIVE_MAGIC; at < finder->size && !finder->full;) {
        uint64_t size =
            holds(finder->size, at, MEMBER_HEADER) ? digits_at(finder, at + MEMBER_SIZE, MEMBER_SIZE_DIGITS) : 0;
        if (!holds(finder->size, at, MEMBER_HEADER) || memcmp(finder->data + at + MEMBER_HEADER - 2, "`\n", 2) != 0 ||
            !holds(finder->size, at + MEMBER_HEADER, size)) {
            add_damaged(finder, at, "an archive is cut off, or damaged: what follows is not checked");
            return;
        }
        ImageSection bytes = {at + MEMBER_HEADER, at + MEMBER_HEADER + (size_t)size};
        if (memcmp(finder->data + at, "// ", 3) == 0)
            long_names = bytes;
        finder->member = member_name(finder, at, long_names, &bytes);
        find_in_member(finder, bytes);
        finder->member = (Str){0};
        at = bytes.end + (bytes.end & 1);
    }
}

/* ---- A file ------------------------------------------------------------------------------------------------------ */

static Finder finder_of(const Source *source, Images *images) {
    return (Finder){.data = (const unsigned char *)source->data, .size = source->size, .images = images};
}

bool images_in(const Source *source) {
    Finder finder = finder_of(source, NULL);
    return is_elf(&finder, 0, source->size) || is_fatbin(&finder, 0, source->size) || is_archive(&finder);
}

/* That nothing is there to be read must not look as if all had been read. */
static void say_none(Finder *finder) {
    for (uint32_t i = 0; i < finder->images->count; i++)
        if (finder->images->items[i].kind == IMAGE_PTX || finder->images->items[i].problem)
            return;
    add_damaged(finder, 0,
                finder->closed ? "there is no PTX in it, only machine code, which is not read; some of that is "
                                 "compressed, and could not be looked into for PTX that it keeps"
                : finder->images->count ? "there is no PTX in it, only machine code, which is not read"
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
    else if (is_archive(&finder))
        find_in_archive(&finder);
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

/* Zeros at the end fill the text up to a multiple of eight; of PTX that was kept, one of them was the last line's end.
 */
static size_t end_lines(const Image *image, char *text) {
    size_t size = image->unpacked;
    while (size && !text[size - 1])
        size--;
    for (size_t i = 0; image->kept && i < size; i++)
        if (!text[i])
            text[i] = '\n';
    if (image->kept)
        text[size++] = '\n';
    return size;
}

Source *image_text(const Source *source, const Image *image, const char **problem) {
    const unsigned char *from = (const unsigned char *)source->data + image->begin;
    *problem = image->problem;
    if (*problem)
        return NULL;
    char *text =
        (char *)unpack(from, image->packing, image->size, image->cubin ? image->cubin : image->unpacked, problem);
    if (!text)
        return NULL;
    if (image->within)
        memmove(text, text + image->within, image->unpacked);
    Source *made = source_copy(source->name, text, end_lines(image, text));
    if (!made)
        *problem = "there is not enough memory";
    free(text);
    return made;
}
