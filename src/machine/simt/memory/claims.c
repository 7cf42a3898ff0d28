/* CTAs of a launch that run at the same time: each machine of the team claims the bytes of this process's memory that
 * its CTAs access, before they do. What one of them writes, no other may access; what none writes, all may read. As
 * long as that holds, CTAs do not notice each other, and memory is at the end what it is if they run one after the
 * other. Where it does not hold, the team stops.
 *
 * A claim is of four bytes; eight of them are one word, which is changed at once. */
#include "machine/simt/core/internal.h"

#include <stdlib.h>

enum { CLAIMED_BYTES = 4, CLAIMS = 8, PAGE_WORDS = PAGE_BYTES / CLAIMED_BYTES / CLAIMS };

/* What a claim is; 0: there is none. Each member has two numbers: it reads, it writes. */
enum { CLAIM_SHARED = 1, CLAIM_READS = 2, CLAIM_WRITES = 3 };

static const uint64_t each_byte = UINT64_C(0x0101010101010101);

void ptx_ordered(PtxMachine *machine) {
    machine->ordered = true;
    if (!machine->team)
        return;
    __atomic_store_n(&machine->team->stop, true, __ATOMIC_RELAXED);
    longjmp(*machine->arena.exhausted, 1);
}

/* What becomes of a claim; 0: it cannot be made. */
static unsigned claimed(unsigned was, unsigned reads, bool writes) {
    bool own = !was || was == reads || was == reads + 1;
    if (writes)
        return own ? reads + 1 : 0;
    if (own || was == CLAIM_SHARED)
        return was ? was : reads;
    return was % 2 == CLAIM_READS % 2 ? CLAIM_SHARED : 0;
}

static bool claim_each(uint64_t old, uint64_t mask, unsigned reads, bool writes, uint64_t *made) {
    *made = old;
    for (unsigned shift = 0; shift < 64; shift += 8) {
        if (!(mask >> shift & 1))
            continue;
        unsigned was = old >> shift & 0xff, now = claimed(was, reads, writes);
        if (!now)
            return false;
        *made ^= (uint64_t)(was ^ now) << shift;
    }
    return true;
}

static bool claim_word(uint64_t *word, uint64_t mask, unsigned reads, bool writes) {
    uint64_t mine = each_byte * (reads + writes) & mask, made;
    uint64_t old = __atomic_load_n(word, __ATOMIC_ACQUIRE);
    do {
        if ((old & mask) == mine)
            return true;
        made = old | mine;
        if (old & mask && !claim_each(old, mask, reads, writes, &made))
            return false;
    } while (made != old && !__atomic_compare_exchange_n(word, &old, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
    return true;
}

/* Something that members make when they first need it: the first one's is there for all. */
static void *made_once(PtxMachine *machine, void **at, size_t count, size_t size) {
    void *there = __atomic_load_n(at, __ATOMIC_ACQUIRE);
    if (there)
        return there;
    void *made = host_taken(machine, calloc(count, size));
    if (__atomic_compare_exchange_n(at, &there, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return made;
    free(made);
    return there;
}

static uint64_t *words_of(PtxMachine *machine, PtxHost *host, uint64_t page) {
    void **pages = made_once(machine, (void **)&host->claims, host->size / PAGE_BYTES + 1, sizeof *host->claims);
    return made_once(machine, &pages[page], PAGE_WORDS, sizeof(uint64_t));
}

/* Bytes [begin, end) of a page. */
static bool claim_in_page(uint64_t *words, unsigned begin, unsigned end, unsigned reads, bool writes) {
    unsigned first = begin / CLAIMED_BYTES, last = (end - 1) / CLAIMED_BYTES;
    for (unsigned word = first / CLAIMS; word <= last / CLAIMS; word++) {
        uint64_t mask = UINT64_MAX;
        if (word == first / CLAIMS)
            mask = mask << 8 * (first % CLAIMS);
        if (word == last / CLAIMS)
            mask &= UINT64_MAX >> 8 * (CLAIMS - 1 - last % CLAIMS);
        if (!claim_word(&words[word], mask, reads, writes))
            return false;
    }
    return true;
}

void host_claim(PtxMachine *machine, PtxHost *host, uint64_t offset, uint64_t count, bool writes) {
    unsigned reads = CLAIM_READS + 2 * machine->member;
    if (__atomic_load_n(&machine->team->stop, __ATOMIC_RELAXED))
        ptx_ordered(machine);
    for (uint64_t end = offset + count, next; offset < end; offset = next) {
        uint64_t page = offset / PAGE_BYTES, from = page * PAGE_BYTES;
        next = from + PAGE_BYTES < end ? from + PAGE_BYTES : end;
        if (!claim_in_page(words_of(machine, host, page), (unsigned)(offset - from), (unsigned)(next - from), reads,
                           writes))
            ptx_ordered(machine);
    }
}

bool host_claim_lanes(PtxMachine *machine, PtxHost *host, uint32_t lanes, const PtxLocation *locations, uint64_t bytes,
                      bool writes) {
    uint64_t begin = 0, end = 0;
    bool apart = false;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        uint64_t offset = locations[__builtin_ctz(rest)].offset;
        if (rest != lanes && offset >= begin && offset + bytes <= end)
            continue;
        if (offset != end || rest == lanes) {
            apart |= rest != lanes;
            host_claim(machine, host, begin, end - begin, writes);
            begin = offset;
        }
        end = offset + bytes;
    }
    host_claim(machine, host, begin, end - begin, writes);
    return !apart;
}

void ptx_host_unclaim(PtxHost *host) {
    for (uint64_t page = 0; host->claims && page <= host->size / PAGE_BYTES; page++)
        free(host->claims[page]);
    free(host->claims);
    host->claims = NULL;
}
