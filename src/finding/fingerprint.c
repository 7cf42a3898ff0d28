/* Fingerprints: what of a finding does not change with the lines and the numbers around it, hashed. */
#include "finding/fingerprint.h"

#include "base/code.h"
#include "base/hash.h"

#include <inttypes.h>

/* Each text ends with a zero byte, so that "ab", "c" is not "a", "bc". */
static uint64_t hash_text(uint64_t hash, const char *text) {
    return hash_bytes(hash, text, strlen(text) + 1);
}

static uint64_t text_hash(const char *first, const char *second) {
    return hash_text(hash_text(HASH_START, first), second);
}

/* FNV leaves the low bits of short texts alike: the finalizer of splitmix64 spreads them. */
static uint64_t spread(uint64_t hash) {
    hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9;
    hash = (hash ^ (hash >> 27)) * 0x94d049bb133111eb;
    return hash ^ (hash >> 31);
}

/* Of what each place does, once, in no order: more agents that do the same do not count. */
static uint64_t roles_hash(const Finding *finding) {
    uint64_t sum = 0;
    for (size_t i = 0; i < finding->place_count; i++) {
        const FindingPlace *place = &finding->places[i];
        bool before = false;
        for (size_t k = 0; k < i && !before; k++)
            before = strcmp(finding->places[k].role, place->role) == 0 && strcmp(finding->places[k].op, place->op) == 0;
        sum += before ? 0 : spread(text_hash(place->role, place->op));
    }
    return sum;
}

static uint64_t finding_hash(const Verdict *verdict, const Finding *finding, const char *ir, const char *anchor) {
    bool known = finding->place_count && *finding->places[0].file;
    uint64_t hash = text_hash("weir/v1", rule_of(finding->rule)->id);
    hash = hash_text(hash, finding->space);
    hash = hash_text(hash, verdict->kernel);
    hash = hash_text(hash, path_name(known ? finding->places[0].file : ir));
    hash = hash_text(hash, anchor);
    return spread(hash + roles_hash(finding));
}

void verdict_fingerprints(Verdict *verdict, const char *ir, const char *const *anchors) {
    uint64_t *hashes = ARENA_ARRAY(verdict->arena, uint64_t, verdict->finding_count + 1);
    for (size_t i = 0; i < verdict->finding_count; i++) {
        Finding *finding = &verdict->findings[i];
        uint64_t equals = 0;
        hashes[i] = finding_hash(verdict, finding, ir, anchors[i]);
        for (size_t k = 0; k < i; k++)
            equals += hashes[k] == hashes[i];
        uint64_t number = equals ? spread(hashes[i] + equals) : hashes[i];
        finding->fingerprint = verdict_text(verdict, "%016" PRIx64, number);
    }
}
