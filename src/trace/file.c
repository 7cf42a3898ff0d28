/* Recordings are read and written. */
#include "trace/file.h"

#include "trace/pack.h"
#include "trace/sample.h"
#include "trace/shadow.h"

#include <limits.h>
#include <string.h>

static const char magic[8] = {'w', 'e', 'i', 'r', 'r', 'e', 'c', '1'};
enum {
    SECTIONS = RECORDING_TOUCHED + 1,
    LARGEST_CHUNK = 1 << 24,
    SMALLEST_CHUNK = 4 * RECORD_UNIT,
    MOST_THREADS = 1024
};

typedef struct SectionHead {
    uint32_t kind, zero;
    uint64_t bytes;
} SectionHead;

typedef struct FileSection {
    const uint8_t *at;
    uint64_t bytes;
    bool there;
} FileSection;

uint32_t recording_cta(const RecordingLaunch *launch, uint32_t number) {
    const uint32_t *grid = launch->grid, *size = launch->cluster;
    uint32_t volume = size[0] * size[1] * size[2], cluster = number / volume, rank = number % volume;
    uint32_t wide = grid[0] / size[0], high = grid[1] / size[1];
    uint32_t x = cluster % wide * size[0] + rank % size[0];
    uint32_t y = cluster / wide % high * size[1] + rank / size[0] % size[1];
    uint32_t z = cluster / wide / high * size[2] + rank / size[0] / size[1];
    return x + grid[0] * (y + grid[1] * z);
}

/* ---- Reading -------------------------------------------------------------------------------------- */

bool recording_is(const void *bytes, size_t count) {
    return count >= sizeof magic && memcmp(bytes, magic, sizeof magic) == 0;
}

static uint64_t padded(uint64_t bytes) {
    return (bytes + 7) & ~(uint64_t)7;
}

/* NULL: all of them were found. */
static const char *find_sections(FileSection sections[SECTIONS], const uint8_t *bytes, size_t count) {
    for (size_t at = sizeof magic;;) {
        SectionHead head;
        if (count - at < sizeof head)
            return "the recording is cut off";
        memcpy(&head, bytes + at, sizeof head);
        at += sizeof head;
        if (head.kind == RECORDING_END)
            return NULL;
        if (head.kind >= SECTIONS)
            return "the recording has a section that is not known: it is of a newer Weir";
        if (head.bytes > count - at || padded(head.bytes) > count - at)
            return "the recording is cut off";
        if (sections[head.kind].there)
            return "the recording has a section twice";
        sections[head.kind] = (FileSection){bytes + at, head.bytes, true};
        at += padded(head.bytes);
    }
}

static bool is_shape(const uint32_t sizes[3], uint64_t most) {
    uint64_t product = 1;
    for (int i = 0; i < 3; i++) {
        product *= sizes[i];
        if (!sizes[i] || product > most)
            return false;
    }
    return true;
}

static const char *launch_problem(const RecordingLaunch *launch) {
    if (!is_shape(launch->grid, SAMPLE_MOST_CTAS) || !is_shape(launch->block, MOST_THREADS))
        return "the recording's grid or block has no size that a launch can have";
    for (int i = 0; i < 3; i++)
        if (!launch->cluster[i] || launch->grid[i] % launch->cluster[i])
            return "the recording's grid is not a multiple of its cluster";
    if (launch->chunk < SMALLEST_CHUNK || launch->chunk > LARGEST_CHUNK || launch->chunk & (launch->chunk - 1))
        return "the recording's chunks have a size that they cannot have";
    if (sample_problem(launch))
        return sample_problem(launch);
    return launch->tag && launch->tag < 256 ? NULL : "the recording has no tag";
}

/* A name that ends with a zero; NULL: it does not end. */
static const char *take_name(const uint8_t **at, const uint8_t *end) {
    const char *name = (const char *)*at;
    const uint8_t *zero = memchr(*at, 0, (size_t)(end - *at));
    *at = zero ? zero + 1 : end;
    return zero ? name : NULL;
}

static const char *read_launch(Recording *recording, const FileSection *section) {
    uint32_t abi = 0;
    if (section->bytes >= sizeof abi)
        memcpy(&abi, section->at, sizeof abi);
    if (section->there && abi != RECORDING_ABI) /* it may be of another size, too */
        return abi > RECORDING_ABI ? "the recording was made by a newer Weir: its format is not known"
                                   : "the recording was made by a Weir before 0.2: it does not say what its records "
                                     "are of";
    if (section->bytes < sizeof recording->launch)
        return "the recording has no launch";
    memcpy(&recording->launch, section->at, sizeof recording->launch);
    const uint8_t *at = section->at + sizeof recording->launch, *end = section->at + section->bytes;
    recording->kernel = take_name(&at, end);
    recording->device = take_name(&at, end);
    return recording->kernel && recording->device ? NULL : "the recording does not name its kernel";
}

/* That are recorded. */
static uint64_t warps_of(const RecordingLaunch *launch) {
    return sample_ctas(launch) * launch_warps(launch);
}

/* Packed chunks: how many there are. */
static const char *find_packed(Recording *recording, const FileSection *packed, FileSection *first, FileSection *more) {
    const RecordingLaunch *launch = &recording->launch;
    PackHead head;
    uint64_t warps = warps_of(launch);
    if (first->there || more->there)
        return "the recording has chunks twice";
    if (packed->bytes < sizeof head)
        return "the recording is cut off";
    memcpy(&head, packed->at, sizeof head);
    if (head.units > UINT64_MAX / 2 / RECORD_UNIT || head.units * RECORD_UNIT < warps * launch->chunk)
        return "the recording does not have a chunk for each warp";
    recording->packed = (Str){(const char *)packed->at + sizeof head, (size_t)(packed->bytes - sizeof head)};
    recording->near = head.near;
    recording->far = head.far;
    *first = (FileSection){NULL, warps * launch->chunk, true};
    *more = (FileSection){NULL, head.units * RECORD_UNIT - first->bytes, true};
    return NULL;
}

/* As the two sections would be that have them otherwise; or apart. */
bool recording_open(Recording *recording, Arena *arena, const char **problem) {
    uint32_t chunk_units = recording->launch.chunk / RECORD_UNIT;
    PackHead head = {(uint64_t)(recording->first_count + recording->more_count) * chunk_units, recording->near,
                     recording->far};
    const uint8_t *bytes = (const uint8_t *)recording->packed.data;
    size_t count = recording->packed.size;
    PackChunk *chunks = NULL;
    if (!bytes)
        return true;
    bool apart = pack_has_chunks(&head, chunk_units);
    uint8_t *units = apart ? NULL : arena_zalloc(arena, (size_t)(head.units * RECORD_UNIT) + 1);
    *problem = apart ? pack_open_chunks(&head, bytes, count, chunk_units, &chunks, arena)
                     : pack_open(&head, bytes, count, units, arena);
    if (*problem)
        return false;
    recording->first = units;
    recording->more = apart ? NULL : units + recording->first_count * recording->launch.chunk;
    recording->chunks = chunks;
    recording->packed = (Str){0};
    return true;
}

static const char *find_chunks(Recording *recording, FileSection *sections) {
    const RecordingLaunch *launch = &recording->launch;
    FileSection *first = &sections[RECORDING_FIRST], *more = &sections[RECORDING_MORE];
    const char *problem =
        sections[RECORDING_PACKED].there ? find_packed(recording, &sections[RECORDING_PACKED], first, more) : NULL;
    if (problem)
        return problem;
    if (first->bytes % launch->chunk || more->bytes % launch->chunk || first->bytes / launch->chunk != warps_of(launch))
        return "the recording does not have a chunk for each warp";
    recording->first = first->at;
    recording->first_count = (size_t)(first->bytes / launch->chunk);
    recording->more = more->at;
    recording->more_count = (size_t)(more->bytes / launch->chunk);
    return recording->more_count < UINT32_MAX ? NULL : "the recording has more chunks than a launch can have";
}

/* Copied: in the file it need not be aligned. */
static const char *read_memory(Recording *recording, const FileSection *section, Arena *arena) {
    if (section->bytes % sizeof(RecordingMemory))
        return "the recording's list of memory is cut off";
    recording->memory_count = (size_t)(section->bytes / sizeof(RecordingMemory));
    RecordingMemory *memory = ARENA_ARRAY(arena, RecordingMemory, recording->memory_count + 1);
    if (section->bytes)
        memcpy(memory, section->at, (size_t)section->bytes);
    recording->memory = memory;
    for (size_t i = 0; i < recording->memory_count; i++)
        if (memory[i].bytes > UINT64_MAX - memory[i].base)
            return "the recording's list of memory has memory that is past the end of it all";
    return NULL;
}

/* Texts, each with a zero behind it. */
static const char *read_texts(const FileSection *section, Str *texts) {
    if (section->bytes && section->at[section->bytes - 1])
        return "the recording's list of what was not checked is cut off";
    *texts = (Str){(const char *)section->at, (size_t)section->bytes};
    return NULL;
}

static const char *read_shadow(Recording *recording, const FileSection *section, Arena *arena) {
    enum { BEFORE = offsetof(ShadowState, waits) }; /* bytes of a state, up to 0.2 */
    const char *from = (const char *)section->at;
    size_t bytes = (size_t)section->bytes;
    if (bytes >= BEFORE && (bytes - BEFORE) % sizeof(ShadowReport) == 0) {
        size_t reports = bytes - BEFORE;
        char *longer = arena_zalloc(arena, sizeof(ShadowState) + reports);
        memcpy(longer, from, BEFORE);
        memcpy(longer + sizeof(ShadowState), from + BEFORE, reports);
        from = longer;
        bytes = sizeof(ShadowState) + reports;
    }
    if (bytes < sizeof(ShadowState) || (bytes - sizeof(ShadowState)) % sizeof(ShadowReport) ||
        (bytes - sizeof(ShadowState)) / sizeof(ShadowReport) > SHADOW_REPORTS)
        return "the recording's reports of races are cut off";
    recording->shadow = (Str){from, bytes};
    return NULL;
}

/* Copied: in the file it need not be aligned. */
static const char *read_order(Recording *recording, const FileSection *section, Arena *arena) {
    static const char cut_off[] = "the recording's order among launches is cut off";
    if (!section->there)
        return NULL;
    if (section->bytes < sizeof(RecordingOrder))
        return cut_off;
    RecordingOrder *order = ARENA_NEW(arena, RecordingOrder);
    memcpy(order, section->at, sizeof *order);
    uint64_t known = (uint64_t)order->known_count * sizeof(RecordingKnown);
    if (section->bytes != sizeof *order + known)
        return cut_off;
    RecordingKnown *all = ARENA_ARRAY(arena, RecordingKnown, order->known_count + 1);
    memcpy(all, section->at + sizeof *order, (size_t)known);
    recording->order = order;
    recording->known = all;
    return NULL;
}

/* Copied: in the file it need not be aligned. Those of shared memory may be alone. */
static const char *read_places(Recording *recording, const FileSection *section, Arena *arena) {
    if (!section->there)
        return NULL;
    if (section->bytes != sizeof(RecordPlaces) && section->bytes != offsetof(RecordPlaces, global_at))
        return "the recording's places of variables are cut off";
    RecordPlaces *places = ARENA_NEW(arena, RecordPlaces);
    *places = (RecordPlaces){0};
    memcpy(places, section->at, (size_t)section->bytes);
    recording->places = places;
    return NULL;
}

static const char *read_touched(Recording *recording, const FileSection *section) {
    RecordingTouchedHead head;
    RecordingTouched touched;
    if (!section->there)
        return NULL;
    bool whole = section->bytes >= sizeof head;
    uint64_t at = sizeof head;
    if (whole) {
        memcpy(&head, section->at, sizeof head);
        at += head.signal_count * (uint64_t)sizeof(ShadowSignal);
        whole = at <= section->bytes && (section->bytes - at) % sizeof touched == 0 &&
                (head.form & 255) + (head.form >> 8 & 255) <= SHADOW_STAMP;
    }
    for (; whole && at < section->bytes; at += sizeof touched) {
        memcpy(&touched, section->at + at, sizeof touched);
        whole = touched.how < RECORDING_WAYS && touched.bytes && touched.begin + touched.bytes > touched.begin;
    }
    recording->touched = (Str){(const char *)section->at, (size_t)section->bytes};
    return whole ? NULL : "what the recording's launch touched is damaged";
}

/* Of a kernel that was recorded. */
static const char *read_recorded(Recording *recording, FileSection *sections, Arena *arena) {
    const char *problem = launch_problem(&recording->launch);
    if (!problem && !sections[RECORDING_PTX].bytes)
        problem = "the recording has no PTX";
    if (!problem)
        problem = sections[RECORDING_SHADOW].there ? read_shadow(recording, &sections[RECORDING_SHADOW], arena)
                                                   : find_chunks(recording, sections);
    if (!problem)
        problem = read_memory(recording, &sections[RECORDING_MEMORY], arena);
    if (!problem)
        problem = read_order(recording, &sections[RECORDING_ORDER], arena);
    if (!problem)
        problem = read_places(recording, &sections[RECORDING_PLACES], arena);
    if (!problem)
        problem = read_touched(recording, &sections[RECORDING_TOUCHED]);
    recording->ptx = (Str){(const char *)sections[RECORDING_PTX].at, (size_t)sections[RECORDING_PTX].bytes};
    recording->sites = (Str){(const char *)sections[RECORDING_SITES].at, (size_t)sections[RECORDING_SITES].bytes};
    recording->beside = (Str){(const char *)sections[RECORDING_BESIDE].at, (size_t)sections[RECORDING_BESIDE].bytes};
    recording->parameters = sections[RECORDING_PARAMETERS].at;
    recording->parameter_bytes = (size_t)sections[RECORDING_PARAMETERS].bytes;
    return problem;
}

bool recording_read(Recording *recording, const uint8_t *bytes, size_t count, Arena *arena, const char **problem) {
    FileSection sections[SECTIONS] = {0};
    *recording = (Recording){0};
    *problem = recording_is(bytes, count) ? find_sections(sections, bytes, count)
                                          : "this is no recording; weir exec --keep writes them";
    if (!*problem)
        *problem = read_launch(recording, &sections[RECORDING_LAUNCH]);
    if (!*problem)
        *problem = read_texts(&sections[RECORDING_UNSEEN], &recording->unseen);
    if (!*problem)
        *problem = read_texts(&sections[RECORDING_LIBRARIES], &recording->libraries);
    bool alone =
        (sections[RECORDING_UNSEEN].there || sections[RECORDING_LIBRARIES].there) && !sections[RECORDING_PTX].there;
    if (!*problem && !alone)
        *problem = read_recorded(recording, sections, arena);
    return !*problem;
}

/* The bytes of a section of that kind, in the arena; false: they are too many, or not there. */
static bool load(FILE *from, const SectionHead *head, FileSection *section, Arena *arena) {
    if (section->there || head->bytes > LARGEST_CHUNK)
        return false;
    uint8_t *bytes = ARENA_ARRAY(arena, uint8_t, padded(head->bytes) + 1);
    *section = (FileSection){bytes, head->bytes, true};
    return fread(bytes, 1, (size_t)padded(head->bytes), from) == padded(head->bytes);
}

bool recording_read_order(Recording *recording, FILE *from, Arena *arena) {
    FileSection launch = {0}, order = {0}, touched = {0};
    SectionHead head;
    char begin[sizeof magic];
    *recording = (Recording){0};
    if (fread(begin, 1, sizeof begin, from) != sizeof begin || !recording_is(begin, sizeof begin))
        return false;
    while (fread(&head, 1, sizeof head, from) == sizeof head && head.kind != RECORDING_END) {
        FileSection *wanted = head.kind == RECORDING_LAUNCH    ? &launch
                              : head.kind == RECORDING_ORDER   ? &order
                              : head.kind == RECORDING_TOUCHED ? &touched
                                                               : NULL;
        if (wanted ? !load(from, &head, wanted, arena)
                   : head.bytes > LONG_MAX - 8 || fseek(from, (long)padded(head.bytes), SEEK_CUR) != 0)
            return false;
        if (launch.there && order.there)
            break;
    }
    return launch.there && !read_launch(recording, &launch) && !read_order(recording, &order, arena) &&
           !read_touched(recording, &touched);
}

/* ---- Writing -------------------------------------------------------------------------------------- */

static bool write_bytes(FILE *to, const void *bytes, size_t count) {
    return !count || fwrite(bytes, 1, count, to) == count;
}

static bool begin_section(FILE *to, RecordingSection kind, uint64_t bytes) {
    SectionHead head = {.kind = kind, .bytes = bytes};
    return write_bytes(to, &head, sizeof head);
}

static bool end_section(FILE *to, uint64_t bytes) {
    static const char zeros[8];
    return write_bytes(to, zeros, (size_t)(padded(bytes) - bytes));
}

static bool write_section(FILE *to, RecordingSection kind, const void *data, size_t bytes) {
    return begin_section(to, kind, bytes) && write_bytes(to, data, bytes) && end_section(to, bytes);
}

static bool write_launch(FILE *to, const Recording *recording) {
    const char *kernel = recording->kernel ? recording->kernel : "",
               *device = recording->device ? recording->device : "";
    size_t first = strlen(kernel) + 1, second = strlen(device) + 1, bytes = sizeof recording->launch + first + second;
    return begin_section(to, RECORDING_LAUNCH, bytes) &&
           write_bytes(to, &recording->launch, sizeof recording->launch) && write_bytes(to, kernel, first) &&
           write_bytes(to, device, second) && end_section(to, bytes);
}

static bool write_chunks(FILE *to, const Recording *recording) {
    size_t chunk = recording->launch.chunk, bytes = sizeof(PackHead) + recording->packed.size;
    PackHead head = {(recording->first_count + recording->more_count) * chunk / RECORD_UNIT, recording->near,
                     recording->far};
    if (!recording->packed.data)
        return write_section(to, RECORDING_FIRST, recording->first, recording->first_count * chunk) &&
               write_section(to, RECORDING_MORE, recording->more, recording->more_count * chunk);
    return begin_section(to, RECORDING_PACKED, bytes) && write_bytes(to, &head, sizeof head) &&
           write_bytes(to, recording->packed.data, recording->packed.size) && end_section(to, bytes);
}

static bool write_order(FILE *to, const Recording *recording) {
    const RecordingOrder *order = recording->order;
    size_t known = order->known_count * sizeof *recording->known, bytes = sizeof *order + known;
    return begin_section(to, RECORDING_ORDER, bytes) && write_bytes(to, order, sizeof *order) &&
           write_bytes(to, recording->known, known) && end_section(to, bytes);
}

static bool write_recorded(FILE *to, const Recording *recording) {
    return write_section(to, RECORDING_PTX, recording->ptx.data, recording->ptx.size) &&
           write_section(to, RECORDING_SITES, recording->sites.data, recording->sites.size) &&
           write_section(to, RECORDING_PARAMETERS, recording->parameters, recording->parameter_bytes) &&
           write_section(to, RECORDING_MEMORY, recording->memory,
                         recording->memory_count * sizeof *recording->memory) &&
           (!recording->places || write_section(to, RECORDING_PLACES, recording->places, sizeof *recording->places)) &&
           write_chunks(to, recording);
}

bool recording_write(FILE *to, const Recording *recording) {
    return write_bytes(to, magic, sizeof magic) && write_launch(to, recording) &&
           (!recording->order || write_order(to, recording)) &&
           (!recording->ptx.size || write_recorded(to, recording)) &&
           (!recording->shadow.size ||
            write_section(to, RECORDING_SHADOW, recording->shadow.data, recording->shadow.size)) &&
           (!recording->beside.size ||
            write_section(to, RECORDING_BESIDE, recording->beside.data, recording->beside.size)) &&
           (!recording->touched.size ||
            write_section(to, RECORDING_TOUCHED, recording->touched.data, recording->touched.size)) &&
           (!recording->unseen.size ||
            write_section(to, RECORDING_UNSEEN, recording->unseen.data, recording->unseen.size)) &&
           (!recording->libraries.size ||
            write_section(to, RECORDING_LIBRARIES, recording->libraries.data, recording->libraries.size)) &&
           begin_section(to, RECORDING_END, 0) && fflush(to) == 0;
}
