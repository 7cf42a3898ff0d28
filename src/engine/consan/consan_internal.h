/* The words of ConSan's tables, and who has something in them: what its rules and its tables share.
 *
 * Actors, phases and agents are holders of words. A holder that is in a word's list has something there, or had; one
 * that is not has nothing there: its entries are zero. Both sides keep lists, so that either can be gone through. */
#ifndef ENGINE_CONSAN_CONSAN_INTERNAL_H
#define ENGINE_CONSAN_CONSAN_INTERNAL_H

#include "engine/consan/consan.h"

static inline uint64_t consan_bit(uint32_t index) {
    return UINT64_C(1) << index;
}

/* The lowest of a set, which it leaves. */
static inline uint32_t consan_take_lowest(uint64_t *set) {
    uint32_t lowest = (uint32_t)__builtin_ctzll(*set);
    *set &= *set - 1;
    return lowest;
}

/* The base actor of an actor's agent. */
static inline uint32_t consan_base_of(uint32_t actor) {
    return actor & ~(uint32_t)(CONSAN_SET_ACTORS - CONSAN_SET);
}

static inline uint32_t consan_phase(uint32_t barrier, uint32_t parity) {
    return barrier * CONSAN_PHASES + (parity & 1);
}

static inline ConsanWord *consan_word(const Consan *consan, uint32_t span) {
    return &consan->words[span / CONSAN_LANES];
}

static inline uint16_t *consan_list(const Consan *consan, const ConsanWords *words, uint32_t holder) {
    return words->lists + (size_t)holder * consan->word_capacity;
}

/* The holder has something in the word, from now on. */
static inline void consan_link(const Consan *consan, const ConsanWords *words, ConsanHolders *holders, uint32_t word,
                               uint32_t holder) {
    if (holders->place[holder])
        return;
    holders->list[holders->count++] = (uint16_t)holder;
    holders->place[holder] = (uint16_t)holders->count;
    holders->back[holder] = words->counts[holder];
    consan_list(consan, words, holder)[words->counts[holder]++] = (uint16_t)word;
}

/* What the word has of the group's stagers: NULL, or their entries. */
static inline ConsanStaged *consan_staged(const ConsanWord *word, ConsanGroup group, uint32_t agent) {
    return word->staged[group] ? word->staged[group][agent] : NULL;
}

/* Spans of the word of which the actor sees the latest write. */
static inline uint64_t consan_sees_write(const ConsanWord *word, uint32_t actor) {
    return word->seen[actor] | word->seen[consan_base_of(actor)];
}

/* Spans of it of which the actor sees what the reader has read. */
static inline uint64_t consan_sees_read(const ConsanReader *reader, uint32_t actor) {
    return reader->seen[actor] | reader->seen[consan_base_of(actor)];
}

/* It has nothing in the word any more. */
void consan_unlink_watcher(Consan *consan, uint32_t word, uint32_t actor);
void consan_unlink_phase(Consan *consan, uint32_t word, uint32_t phase);
void consan_unlink_stager(Consan *consan, uint32_t word, ConsanGroup group, uint32_t agent);

/* What the actor has read or updated in the word, and what the agent has staged; made if there is none. NULL: there is
 * no memory, which the engine then says. */
ConsanReader *consan_reader(Consan *consan, ConsanWord *word, uint32_t actor, bool updates);
ConsanStaged *consan_stager(Consan *consan, ConsanWord *word, ConsanGroup group, uint32_t agent);

#endif
