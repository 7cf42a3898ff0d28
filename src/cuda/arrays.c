/* Arrays of CUDA. */
#include "cuda/runtime.h"

size_t array_element(const Array *array) {
    const Channels *format = &array->format;
    return (size_t)(format->x + format->y + format->z + format->w) / 8;
}

bool array_span(const Array *array, Position at, size_t *width, Span *to) {
    *width = array->width;
    *to = (Span){array->at + at.x * array_element(array) + at.y * array->pitch + at.z * array->slice, array->pitch,
                 array->slice};
    return at.x < array->width || !at.x;
}
