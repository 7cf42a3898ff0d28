/* Which memory and events other processes have, and what the order log says of it. A file by which the driver exports
 * physical memory gets a lock: its place is the number of the memory, and its length that of the memory, in pages. A
 * lock is of the open file and not of the process: who imports that file reads it, whatever way the file has come.
 * hook_mutex guards all of it. */
#include "runtime/record/gpu_peers.h"

#include "base/array.h"
#include "base/text.h"
#include "runtime/record/gpu.h"
#include "runtime/record/gpu_log.h"
#include "runtime/record/gpu_named.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A lock's place: process, a number in it, and room for its length. */
enum { PAGE = 4096, PAGES_BITS = 28, COUNT_BITS = 13, KEY_BYTES = 2 * sizeof(IpcHandle) + 1 };

/* Physical memory. */
typedef struct PeerMemory {
    uint64_t handle; /* 0: it was released, and what is mapped stays */
    uint64_t bytes, count;
    uint64_t number; /* that all processes know it by; 0: it has none */
} PeerMemory;

typedef struct PeerMapping {
    DevicePointer at;
    uint64_t bytes, offset;
    PeerMemory *of;  /* NULL: an allocation that is handed over as it is */
    uint64_t opened; /* ... how often */
    bool named;      /* ... and PyTorch's tensors there are named in the log, and not the memory */
    IpcHandle handle;
} PeerMapping;

static PeerMemory **memories;
static uint32_t memory_count, memory_capacity;
static PeerMapping *mappings;
static uint32_t mapping_count, mapping_capacity;
static RecordingMemory *announced;
static uint32_t announced_count, announced_capacity;
static bool on;

bool peers_on(void) {
    return __atomic_load_n(&on, __ATOMIC_RELAXED);
}

static bool is_shared(const PeerMapping *mapping) {
    return !mapping->of || mapping->of->number;
}
/* The log has it. */
static bool is_said(const PeerMapping *mapping) {
    return is_shared(mapping) && !mapping->named;
}

bool peers_has(DevicePointer address) {
    for (uint32_t i = 0; i < mapping_count; i++)
        if (address - mappings[i].at < mappings[i].bytes && is_said(&mappings[i]))
            return true;
    return false;
}

bool peers_next(uint32_t *at, RecordingMemory *memory) {
    while (*at < mapping_count && !is_shared(&mappings[*at]))
        ++*at;
    if (*at == mapping_count)
        return false;
    *memory = (RecordingMemory){mappings[*at].at, mappings[*at].bytes};
    ++*at;
    return true;
}

/* ---- Lines ---------------------------------------------------------------------------------------- */

static void write_text(uint64_t thread, const OrderPlace *place, void *of) {
    (void)place;
    log_line(thread, "%s", (const char *)of);
}

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...) {
    Text text = {0};
    va_list arguments;
    va_start(arguments, format);
    text_vaddf(&text, format, arguments);
    va_end(arguments);
    text_char(&text, 0);
    order_write(NULL, write_text, text.data);
    text_free(&text);
}

void peers_begin(void) {
    if (!peers_on())
        order_shares();
    __atomic_store_n(&on, true, __ATOMIC_RELAXED);
}

void peers_calls(void) {
    if (peers_on())
        say("calls");
}

static void spell(const IpcHandle *handle, char key[KEY_BYTES]) {
    for (size_t i = 0; i < sizeof handle->bytes; i++)
        snprintf(key + 2 * i, 3, "%02x", (unsigned char)handle->bytes[i]);
}

static void say_shared(const PeerMapping *mapping) {
    char key[KEY_BYTES];
    uint64_t total = mapping->of ? mapping->of->bytes : mapping->bytes;
    if (mapping->of)
        snprintf(key, sizeof key, "memory-%" PRIx64, mapping->of->number);
    else
        spell(&mapping->handle, key);
    peers_begin();
    say("shared %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " \"%s\"", mapping->at, mapping->bytes, mapping->offset,
        total, key);
}

/* ---- Physical memory ------------------------------------------------------------------------------ */

static PeerMemory *memory_of(uint64_t handle) {
    for (uint32_t i = 0; handle && i < memory_count; i++)
        if (memories[i]->handle == handle)
            return memories[i];
    return NULL;
}

static PeerMemory *add_memory(uint64_t handle, uint64_t bytes) {
    PeerMemory *made = ARRAY_ROOM(memories, memory_count, memory_capacity, 64) ? calloc(1, sizeof *made) : NULL;
    if (!made)
        return NULL;
    *made = (PeerMemory){.handle = handle, .bytes = bytes, .count = 1};
    return memories[memory_count++] = made;
}

void peers_created(uint64_t handle, uint64_t bytes) {
    add_memory(handle, bytes);
}

void peers_retained(uint64_t handle) {
    PeerMemory *memory = memory_of(handle);
    if (memory)
        memory->count++;
}

/* What neither has a handle nor is mapped is gone. */
static void look_at(const PeerMemory *memory) {
    bool used = memory->handle;
    for (uint32_t i = 0; i < mapping_count; i++)
        used |= mappings[i].of == memory;
    for (uint32_t i = 0; !used && i < memory_count; i++)
        if (memories[i] == memory) {
            free(memories[i]);
            memories[i] = memories[--memory_count];
            return;
        }
}

void peers_released(uint64_t handle) {
    PeerMemory *memory = memory_of(handle);
    if (!memory || --memory->count)
        return;
    memory->handle = 0;
    look_at(memory);
}

static uint64_t new_number(void) {
    static uint64_t count;
    return ((uint64_t)getpid() << COUNT_BITS | count++ % (1 << COUNT_BITS)) << PAGES_BITS;
}

/* The log knows it by its number from now on. */
static void share(PeerMemory *memory, uint64_t number) {
    memory->number = number;
    for (uint32_t i = 0; i < mapping_count; i++)
        if (mappings[i].of == memory)
            say_shared(&mappings[i]);
}

/* Whether some of it is mapped elsewhere, too. */
static bool is_alias(const PeerMapping *mapping) {
    for (uint32_t i = 0; i < mapping_count; i++)
        if (&mappings[i] != mapping && mappings[i].of == mapping->of &&
            mappings[i].offset < mapping->offset + mapping->bytes &&
            mapping->offset < mappings[i].offset + mappings[i].bytes)
            return true;
    return false;
}

void peers_mapped(DevicePointer at, uint64_t bytes, uint64_t offset, uint64_t handle) {
    PeerMemory *memory = memory_of(handle);
    if (!memory || !ARRAY_ROOM(mappings, mapping_count, mapping_capacity, 64))
        return;
    PeerMapping *mapping = &mappings[mapping_count++];
    *mapping = (PeerMapping){.at = at, .bytes = bytes, .offset = offset, .of = memory};
    if (memory->number)
        say_shared(mapping);
    else if (is_alias(mapping))
        share(memory, new_number());
}

static void remove_mapping(uint32_t i) {
    const PeerMemory *memory = mappings[i].of;
    if (is_said(&mappings[i]))
        say("free %" PRIu64 " \"\"", mappings[i].at);
    mappings[i] = mappings[--mapping_count];
    if (memory)
        look_at(memory);
}

void peers_unmapped(DevicePointer at, uint64_t bytes) {
    for (uint32_t i = mapping_count; i-- > 0;)
        if (mappings[i].of && mappings[i].at - at < bytes)
            remove_mapping(i);
}

/* ---- Files ---------------------------------------------------------------------------------------- */

static struct flock lock_of(const PeerMemory *memory, uint64_t number, short kind) {
    return (struct flock){
        .l_type = kind, .l_whence = SEEK_SET, .l_start = (off_t)number, .l_len = (off_t)(memory->bytes / PAGE)};
}

/* A number that no other file of the driver has a lock for; 0: there are no such locks here. */
static uint64_t free_number(const PeerMemory *memory, int file) {
    for (unsigned times = 0; times < 1 << COUNT_BITS; times++) {
        uint64_t number = new_number();
        struct flock lock = lock_of(memory, number, F_WRLCK);
        if (fcntl(file, F_OFD_GETLK, &lock) != 0)
            return 0;
        if (lock.l_type == F_UNLCK)
            return number;
    }
    return 0;
}

bool peers_exported(uint64_t handle, int file) {
    PeerMemory *memory = memory_of(handle);
    if (!memory || memory->bytes < PAGE || memory->bytes / PAGE >> PAGES_BITS)
        return false;
    uint64_t number = memory->number ? memory->number : free_number(memory, file);
    struct flock lock = lock_of(memory, number, F_RDLCK);
    if (!number || fcntl(file, F_OFD_SETLK, &lock) != 0)
        return false;
    if (!memory->number)
        share(memory, number);
    return true;
}

/* "lock: 1: OFDLCK ADVISORY READ -1 00:06:142 FIRST LAST" */
static bool read_lock(int file, uint64_t *first, uint64_t *last) {
    char path[64], line[256];
    snprintf(path, sizeof path, "/proc/self/fdinfo/%d", file);
    FILE *info = fopen(path, "re");
    bool found = false;
    while (info && !found && fgets(line, sizeof line, info))
        found = sscanf(line, "lock: %*u: OFDLCK ADVISORY READ %*d %*s %" SCNu64 " %" SCNu64, first, last) == 2;
    if (info)
        fclose(info);
    return found;
}

bool peers_imported(uint64_t handle, int file) {
    uint64_t first, last;
    if (!read_lock(file, &first, &last) || first >> PAGES_BITS << PAGES_BITS != first || last < first)
        return false;
    PeerMemory *memory = add_memory(handle, (last - first + 1) * PAGE);
    if (memory)
        memory->number = first;
    return memory;
}

/* ---- Allocations and events that are handed over as they are ---------------------------------------- */

static PeerMapping *handed_at(DevicePointer at) {
    for (uint32_t i = 0; i < mapping_count; i++)
        if (!mappings[i].of && mappings[i].at == at)
            return &mappings[i];
    return NULL;
}

bool peers_handed(DevicePointer at, uint64_t bytes, const IpcHandle *handle) {
    PeerMapping *known = handed_at(at);
    bool named = named_here();
    if (known && memcmp(&known->handle, handle, sizeof *handle) == 0) {
        if (known->named && !named) {
            known->named = false;
            say_shared(known);
        }
        return true;
    }
    if (known || !bytes || !ARRAY_ROOM(mappings, mapping_count, mapping_capacity, 64))
        return named;
    mappings[mapping_count++] = (PeerMapping){.at = at, .bytes = bytes, .handle = *handle, .named = named};
    if (!named)
        say_shared(&mappings[mapping_count - 1]);
    return true;
}

bool peers_opened(DevicePointer at, uint64_t bytes, const IpcHandle *handle) {
    bool known = peers_handed(at, bytes, handle);
    PeerMapping *mapping = handed_at(at);
    if (mapping)
        mapping->opened++;
    return known;
}

void peers_closed(DevicePointer at) {
    PeerMapping *mapping = handed_at(at);
    if (mapping && (!mapping->opened || !--mapping->opened))
        remove_mapping((uint32_t)(mapping - mappings));
}

void peers_event(Handle event, const IpcHandle *handle) {
    char key[KEY_BYTES];
    spell(handle, key);
    peers_begin();
    order_event_shared(event, key);
}

/* ---- All memory ------------------------------------------------------------------------------------ */

static bool is_announced(const CaptureAllocation *memory) {
    for (uint32_t i = 0; i < announced_count; i++)
        if (announced[i].base == memory->begin && announced[i].bytes == memory->bytes)
            return true;
    return false;
}

static void announce(const CaptureAllocation *memory) {
    if (is_announced(memory) || peers_has(memory->begin) ||
        !ARRAY_ROOM(announced, announced_count, announced_capacity, 64))
        return;
    announced[announced_count++] = (RecordingMemory){memory->begin, memory->bytes};
    say("host %" PRIu64 " %" PRIu64 " \"\"", memory->begin, memory->bytes);
}

static bool is_there(const RecordingMemory *memory, const CaptureAllocation *all, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (all[i].begin == memory->base && all[i].bytes == memory->bytes)
            return true;
    CaptureAllocation run;
    for (size_t at = 0; memory_mapped(&at, &run);)
        if (run.begin == memory->base && run.bytes == memory->bytes)
            return true;
    return false;
}

void peers_announce(void) {
    size_t count, at = 0;
    const CaptureAllocation *all = memory_all(&count);
    CaptureAllocation run;
    for (uint32_t i = announced_count; i-- > 0;)
        if (!is_there(&announced[i], all, count))
            announced[i] = announced[--announced_count];
    for (size_t i = 0; i < count; i++)
        announce(&all[i]);
    while (memory_mapped(&at, &run))
        announce(&run);
}
