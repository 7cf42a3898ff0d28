/* Memory of this process that a launch works on in place: pages are kept as they were, before they are written first.
 */
#include "base/array.h"
#include "machine/simt/core/internal.h"

#include <stdlib.h>

static uint64_t page_count(const PtxHost *host) {
    return (host->size + PAGE_BYTES - 1) / PAGE_BYTES;
}

static size_t page_size(const PtxHost *host, uint64_t page) {
    uint64_t rest = host->size - page * PAGE_BYTES;
    return rest < PAGE_BYTES ? (size_t)rest : PAGE_BYTES;
}

void *host_taken(PtxMachine *machine, void *memory) {
    if (!memory)
        longjmp(*machine->arena.exhausted, 1);
    return memory;
}

/* Members of a team do so one after the other. */
static void lock(PtxMachine *machine) {
    if (machine->team)
        pthread_mutex_lock(&machine->team->lock);
}

static void unlock(PtxMachine *machine) {
    if (machine->team)
        pthread_mutex_unlock(&machine->team->lock);
}

/* False: there is not enough memory. */
static bool save_page(PtxHost *host, uint32_t page) {
    size_t size = page_size(host, page);
    bool room = ARRAY_ROOM(host->written, host->written_count, host->written_capacity, 16);
    uint8_t *copy = room ? malloc(2 * size) : NULL;
    if (!copy)
        return false;
    memcpy(copy, host->bytes + (uint64_t)page * PAGE_BYTES, size);
    if (host->states)
        memcpy(copy + size, host->states + (uint64_t)page * PAGE_BYTES, size);
    else
        memset(copy + size, BYTE_KNOWN, size);
    host->written[host->written_count++] = page;
    __atomic_store_n(&host->saved[page], copy, __ATOMIC_RELEASE);
    return true;
}

static bool save_pages(PtxHost *host, uint64_t first, uint64_t last) {
    if (!host->saved) {
        uint8_t **saved = calloc(page_count(host) + 1, sizeof *saved);
        if (!saved)
            return false;
        __atomic_store_n(&host->saved, saved, __ATOMIC_RELEASE);
    }
    for (uint64_t page = first; page <= last; page++)
        if (!host->saved[page] && !save_page(host, (uint32_t)page))
            return false;
    return true;
}

void host_save(PtxMachine *machine, PtxHost *host, uint64_t offset, uint64_t count) {
    uint64_t first = offset / PAGE_BYTES, last = count ? (offset + count - 1) / PAGE_BYTES : first, page = first;
    uint8_t **saved = __atomic_load_n(&host->saved, __ATOMIC_ACQUIRE);
    while (saved && page <= last && __atomic_load_n(&saved[page], __ATOMIC_ACQUIRE))
        page++;
    if (page > last || !count)
        return;
    lock(machine);
    bool kept = save_pages(host, page, last);
    unlock(machine);
    host_taken(machine, kept ? host : NULL);
}

void host_make_states(PtxMachine *machine, PtxHost *host) {
    enum { ROOM = 16 };
    lock(machine);
    uint8_t *states = host->states;
    if (!states && (states = malloc(host->size + ROOM))) {
        memset(states, BYTE_KNOWN, host->size + ROOM);
        __atomic_store_n(&host->states, states, __ATOMIC_RELEASE);
    }
    unlock(machine);
    host_taken(machine, states);
}

void ptx_host_before(const PtxHost *host, uint8_t *bytes, uint8_t *states) {
    for (uint64_t page = 0; page < page_count(host); page++) {
        size_t size = page_size(host, page);
        uint64_t at = page * PAGE_BYTES;
        const uint8_t *saved = host->saved ? host->saved[page] : NULL;
        memcpy(bytes + at, saved ? saved : host->bytes + at, size);
        if (saved || host->states)
            memcpy(states + at, saved ? saved + size : host->states + at, size);
        else
            memset(states + at, BYTE_KNOWN, size);
    }
}

static void forget(PtxHost *host, bool restore) {
    for (uint32_t i = 0; i < host->written_count; i++) {
        uint32_t page = host->written[i];
        size_t size = page_size(host, page);
        if (restore)
            memcpy(host->bytes + (uint64_t)page * PAGE_BYTES, host->saved[page], size);
        if (restore && host->states)
            memcpy(host->states + (uint64_t)page * PAGE_BYTES, host->saved[page] + size, size);
        free(host->saved[page]);
        host->saved[page] = NULL;
    }
    host->written_count = 0;
}

void ptx_host_restore(PtxHost *host) {
    forget(host, true);
}

void ptx_host_keep(PtxHost *host) {
    forget(host, false);
}

void ptx_host_free(PtxHost *host) {
    forget(host, false);
    ptx_host_unclaim(host);
    free(host->saved);
    free(host->written);
    free(host->states);
    *host = (PtxHost){0};
}
