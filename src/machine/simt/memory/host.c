/* Memory of this process that a launch works on in place: pages are kept as they were, before they are written first.
 */
#include "machine/simt/core/internal.h"

#include <stdlib.h>

static uint64_t page_count(const PtxHost *host) {
    return (host->size + PAGE_BYTES - 1) / PAGE_BYTES;
}

static size_t page_size(const PtxHost *host, uint64_t page) {
    uint64_t rest = host->size - page * PAGE_BYTES;
    return rest < PAGE_BYTES ? (size_t)rest : PAGE_BYTES;
}

/* Memory that outlives the run; the machine ends as it does for want of memory if there is none. */
static void *taken(PtxMachine *machine, void *memory) {
    if (!memory)
        longjmp(*machine->arena.exhausted, 1);
    return memory;
}

static void save_page(PtxMachine *machine, PtxHost *host, uint32_t page) {
    size_t size = page_size(host, page);
    if (host->written_count == host->written_capacity) {
        uint32_t capacity = host->written_capacity ? 2 * host->written_capacity : 16;
        host->written = taken(machine, realloc(host->written, capacity * sizeof *host->written));
        host->written_capacity = capacity;
    }
    uint8_t *copy = taken(machine, malloc(2 * size));
    memcpy(copy, host->bytes + (uint64_t)page * PAGE_BYTES, size);
    if (host->states)
        memcpy(copy + size, host->states + (uint64_t)page * PAGE_BYTES, size);
    else
        memset(copy + size, BYTE_KNOWN, size);
    host->saved[page] = copy;
    host->written[host->written_count++] = page;
}

void host_save(PtxMachine *machine, PtxHost *host, uint64_t offset, uint64_t count) {
    if (!host->saved)
        host->saved = taken(machine, calloc(page_count(host) + 1, sizeof *host->saved));
    for (uint64_t page = offset / PAGE_BYTES; count && page <= (offset + count - 1) / PAGE_BYTES; page++)
        if (!host->saved[page])
            save_page(machine, host, (uint32_t)page);
}

void host_make_states(PtxMachine *machine, PtxHost *host) {
    enum { ROOM = 16 };
    if (host->states)
        return;
    host->states = taken(machine, malloc(host->size + ROOM));
    memset(host->states, BYTE_KNOWN, host->size + ROOM);
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
    free(host->saved);
    free(host->written);
    free(host->states);
    *host = (PtxHost){0};
}
