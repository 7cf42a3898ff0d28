/* PTX inside other files: fatbins, the ELF files that hold them (objects, libraries, executables), archives of such
 * files; and the PTX that ptxas keeps in a cubin with line information.
 *
 * A fatbin is a header and images, one behind the other; a section may have several of them. An image is PTX or a
 * cubin, as it is or compressed. Finding them reads headers, and unpacks compressed cubins, since PTX may be kept in
 * them; a text is unpacked when it is asked for. Nothing in such a file is believed: what does not fit into it, or
 * would grow beyond IMAGES_LARGEST, becomes an image with a problem. */
#ifndef PTX_IMAGES_H
#define PTX_IMAGES_H

#include "base/arena.h"
#include "base/source.h"

typedef enum ImageKind {
    IMAGE_PTX,
    IMAGE_CUBIN,
    IMAGE_OTHER,   /* neither: NVVM IR, an index */
    IMAGE_DAMAGED, /* what should be one, or the rest of the file, cannot be read */
} ImageKind;

typedef enum ImagePacking {
    PACKED_NOT,
    PACKED_LZ4,
    PACKED_ZSTD,
    PACKED_OTHER,
} ImagePacking;

typedef struct Image {
    ImageKind kind;
    ImagePacking packing;
    unsigned capability; /* 90 of sm_90; 0: not said */
    size_t begin, size;  /* in the file */
    size_t unpacked;     /* bytes that it has when it is unpacked */
    Str member;          /* of an archive: the file that it is in; a part of the source */
    bool kept;           /* in a cubin, by ptxas: zero bytes stand for the ends of lines */
    /* Kept in a compressed cubin, whose place and packing are given then: the cubin's bytes when it is unpacked, and
     * where the text begins in them. */
    size_t cubin, within;
    const char *problem; /* one sentence: why its text cannot be read; NULL: no reason known yet */
} Image;

/* The most bytes that the images of one file may have altogether, and the most images. */
enum { IMAGES_LARGEST = 1 << 30, IMAGES_MOST = 1 << 16 };

typedef struct Images {
    Image *items;
    uint32_t count, capacity;
    Arena arena;
} Images;

/* Whether a file is one of these: it starts as a fatbin, an ELF file or an archive does. */
bool images_in(const Source *source);
/* The images of such a file, in its order. One without PTX has, as the last, an image that says so. False when memory
 * ran out. */
bool images_find(const Source *source, Images *images);
void images_free(Images *images);

/* The text of a PTX image, with the file's name. NULL, with one sentence, if it cannot be unpacked. */
Source *image_text(const Source *source, const Image *image, const char **problem);

#endif
