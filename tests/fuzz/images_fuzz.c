/* Any bytes as a file with images. Whatever they are, finding and unpacking them ends without a fault, and:
 *
 *   - there is at least one image, and one at least is PTX or has a problem
 *   - what is not damaged lies in the file
 *   - an image is unpacked, or there is a sentence why not
 */
#include "ptx/images.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LARGEST_INPUT = 64 << 10, LARGEST_TEXT = 16 << 20 };

static void look_at(const Source *source, const Image *image) {
    if (image->begin > source->size || image->size > source->size - image->begin)
        abort();
    if (image->kind != IMAGE_PTX || image->unpacked > LARGEST_TEXT)
        return;
    const char *problem = NULL;
    Source *text = image_text(source, image, &problem);
    if (!text == !problem)
        abort();
    source_free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size > LARGEST_INPUT)
        return 0;
    Source *source = source_copy("fuzz", (const char *)data, size);
    Images images = {0};
    if (!source)
        abort();
    if (images_in(source)) {
        bool said = false;
        if (!images_find(source, &images) || !images.count)
            abort();
        for (uint32_t i = 0; i < images.count; i++) {
            said |= images.items[i].kind == IMAGE_PTX || images.items[i].problem;
            look_at(source, &images.items[i]);
        }
        if (!said)
            abort();
        images_free(&images);
    }
    source_free(source);
    return 0;
}
