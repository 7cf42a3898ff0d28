/* Copies as a file. */
#include "record/copies.h"

#include <inttypes.h>
#include <string.h>

static const char magic[8] = {'w', 'e', 'i', 'r', 'c', 'p', 'y', '1'};
enum { MOST_KNOWN = 1 << 12, MOST_COPIES = 1 << 18 }; /* more are not written */

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
    while (copies->count < MOST_COPIES && fread(&copy, sizeof copy, 1, from) == 1 && copy.known_count <= MOST_KNOWN) {
        RecordingKnown *known = ARENA_ARRAY(arena, RecordingKnown, copy.known_count + 1);
        if (fread(known, sizeof *known, copy.known_count, from) != copy.known_count ||
            copy.reads.bytes > UINT64_MAX - copy.reads.base || copy.writes.bytes > UINT64_MAX - copy.writes.base)
            break;
        copy.name[sizeof copy.name - 1] = 0;
        uint32_t at = copies->count;
        *ARENA_PUSH(arena, copies->items, copies->count, copies->capacity) = copy;
        *ARENA_PUSH(arena, copies->known, at, copies->known_capacity) = known;
    }
    return true;
}
