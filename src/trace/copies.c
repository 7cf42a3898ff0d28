/* Copies as a file. */
#include "trace/copies.h"

#include <inttypes.h>
#include <string.h>

static const char magic[8] = {'w', 'e', 'i', 'r', 'c', 'p', 'y', '2'};
enum { MOST_KNOWN = 1 << 12, MOST_COPIES = 1 << 18 }; /* more are not written */

RecordingArea recording_array(uint64_t array) {
    return recording_area(RECORDING_OF_ARRAYS | array, 1);
}

RecordingArea recording_area(uint64_t base, uint64_t bytes) {
    return (RecordingArea){.base = base, .bytes = bytes, .pitch = bytes, .slice = bytes, .rows = 1, .slices = 1};
}

uint64_t recording_area_end(const RecordingArea *area) {
    return area->bytes ? area->base + (area->slices - 1) * area->slice + (area->rows - 1) * area->pitch + area->bytes
                       : area->base;
}

/* The first of `count` parts, `step` apart, that may end behind `at`. */
static uint64_t first_part(uint64_t base, uint64_t step, uint64_t count, uint64_t at) {
    uint64_t part = at > base && count > 1 ? (at - base) / step : 0;
    return part < count ? part : count - 1;
}

bool recording_area_meets(const RecordingArea *area, uint64_t begin, uint64_t end, RecordingMemory *bytes) {
    if (!area->bytes || begin >= recording_area_end(area) || end <= area->base)
        return false;
    for (uint64_t s = first_part(area->base, area->slice, area->slices, begin); s < area->slices; s++) {
        uint64_t slice = area->base + s * area->slice;
        if (slice >= end)
            break;
        for (uint64_t r = first_part(slice, area->pitch, area->rows, begin); r < area->rows; r++) {
            uint64_t row = slice + r * area->pitch;
            if (row >= end)
                break;
            if (begin < row + area->bytes) {
                uint64_t first = begin > row ? begin : row, last = end < row + area->bytes ? end : row + area->bytes;
                *bytes = (RecordingMemory){first, last - first};
                return true;
            }
        }
    }
    return false;
}

/* Whether it is one: rows that do not overlap, within the memory that can be addressed. */
static bool is_area(const RecordingArea *area) {
    uint64_t rows, slices, end;
    if (!area->bytes)
        return true;
    return area->rows && area->slices && area->pitch >= area->bytes &&
           !__builtin_mul_overflow(area->rows, area->pitch, &rows) &&
           area->slice >= rows - (area->pitch - area->bytes) &&
           !__builtin_mul_overflow(area->slices, area->slice, &slices) &&
           !__builtin_add_overflow(area->base, slices, &end);
}

void recording_copies_name(char *name, size_t size, const char *folder, size_t folder_size, uint64_t process) {
    snprintf(name, size, "%.*s%scopies-%016" PRIx64 ".weircopies", (int)folder_size, folder, folder_size ? "/" : "",
             process);
}

bool recording_copy_write(FILE *to, const RecordingCopy *copy, const RecordingKnown *known) {
    return (ftell(to) || fwrite(magic, 1, sizeof magic, to) == sizeof magic) &&
           fwrite(copy, sizeof *copy, 1, to) == 1 &&
           fwrite(known, sizeof *known, copy->known_count, to) == copy->known_count;
}

bool recording_copies_read(RecordingCopies *copies, FILE *from, Arena *arena) {
    char begin[sizeof magic];
    RecordingCopy copy;
    *copies = (RecordingCopies){0};
    if (fread(begin, 1, sizeof begin, from) != sizeof begin || memcmp(begin, magic, sizeof begin) != 0)
        return false;
    while (copies->count < MOST_COPIES && fread(&copy, sizeof copy, 1, from) == 1) {
        copies->broken = copy.known_count > MOST_KNOWN || !is_area(&copy.reads) || !is_area(&copy.writes);
        if (copies->broken)
            break;
        RecordingKnown *known = ARENA_ARRAY(arena, RecordingKnown, copy.known_count + 1);
        if (fread(known, sizeof *known, copy.known_count, from) != copy.known_count)
            break;
        copy.name[sizeof copy.name - 1] = 0;
        uint32_t at = copies->count;
        *ARENA_PUSH(arena, copies->items, copies->count, copies->capacity) = copy;
        *ARENA_PUSH(arena, copies->known, at, copies->known_capacity) = known;
    }
    return true;
}
