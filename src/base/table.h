/* The hash table: open addressing with linear probing, at most half full, a power of two of places. Items lie in it
 * as they are, of any type; nothing may depend on their order. What needs a table of its own kind of key makes the
 * functions for it with TABLE; texts have a map (map.h), pointers their numbers (pointers.h). */
#ifndef BASE_TABLE_H
#define BASE_TABLE_H

#include "base/arena.h"

/* What a table is; a struct that has these members and more will do, too. Empty is all zero. */
#define TABLE_OF(Item)            \
    struct {                      \
        Item *items;              \
        uint32_t count, capacity; \
    }

/* Spreads the bits of a number. */
static inline uint32_t table_hash(uint64_t number) {
    return (uint32_t)(number * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

/* Of a hash of 64 bits, whose high half alone may say little. */
static inline uint32_t table_fold(uint64_t hash) {
    return (uint32_t)(hash ^ hash >> 32);
}

#define TABLE_NO_GIVE(memory, items, size) ((void)(memory), (void)(items), (void)(size))

/* Functions NAME_... of tables of the type Table, whose places are Items that are found by a Key:
 *     place: the item of a key, or the free place where it would go; the table is not empty
 *     find: the item of a key; NULL: there is none
 *     put: the same place, with room made for it; it counts from now on, and the caller fills it. NULL: no memory
 *     remove: the item of a key that is there, behind those that would be found no more without it: it no longer
 * counts, and the caller makes it one that is not taken These are expressions: `taken`, whether `item` is one;
 * `key_of`, the key of `item`; `hash`, of `key`; `same`, whether `key` is that of `item`. All may name the `table`. A
 * table begins with `first` places, a power of two. take(memory, size) gives memory that is zero, give(memory, items,
 * size) takes it back. */
#define TABLE_IN(name, Table, Item, Key, Memory, take, give, first, taken, key_of, hash, same)                  \
    __attribute__((unused)) static inline Item *name##_place(const Table *table, Key key) {                     \
        uint32_t mask_ = table->capacity - 1;                                                                   \
        for (uint32_t at_ = (uint32_t)(hash);; at_++) {                                                         \
            Item *item = &table->items[at_ & mask_];                                                            \
            if (!(taken) || (same))                                                                             \
                return item;                                                                                    \
        }                                                                                                       \
    }                                                                                                           \
    __attribute__((unused)) static inline Item *name##_find(const Table *table, Key key) {                      \
        Item *item = table->capacity ? name##_place(table, key) : NULL;                                         \
        return item && (taken) ? item : NULL;                                                                   \
    }                                                                                                           \
    __attribute__((unused)) static bool name##_grow(Memory *memory, Table *table) {                             \
        Table larger_ = *table;                                                                                 \
        larger_.capacity = table->capacity ? 2 * table->capacity : (first);                                     \
        larger_.items = take(memory, larger_.capacity * sizeof(Item)); /* may jump: then all is as it was */    \
        for (uint32_t i_ = 0; larger_.items && i_ < table->capacity; i_++) {                                    \
            Item *item = &table->items[i_];                                                                     \
            if (taken)                                                                                          \
                *name##_place(&larger_, key_of) = *item;                                                        \
        }                                                                                                       \
        if (!larger_.items)                                                                                     \
            return false;                                                                                       \
        give(memory, table->items, table->capacity * sizeof(Item));                                             \
        *table = larger_;                                                                                       \
        return true;                                                                                            \
    }                                                                                                           \
    __attribute__((unused)) static inline Item *name##_put(Memory *memory, Table *table, Key key) {             \
        if (2 * table->count >= table->capacity && !name##_grow(memory, table))                                 \
            return NULL;                                                                                        \
        Item *item = name##_place(table, key);                                                                  \
        table->count += !(taken);                                                                               \
        return item;                                                                                            \
    }                                                                                                           \
    __attribute__((unused)) static Item *name##_remove(Table *table, Key dropped_) {                            \
        uint32_t mask_ = table->capacity - 1, hole_ = (uint32_t)(name##_place(table, dropped_) - table->items); \
        for (uint32_t at_ = hole_ + 1;; at_++) {                                                                \
            Item *item = &table->items[at_ & mask_];                                                            \
            Item moved_ = *item;                                                                                \
            if (!(taken))                                                                                       \
                break;                                                                                          \
            Key key = key_of;                                                                                   \
            if (((at_ - (uint32_t)(hash)) & mask_) < ((at_ - hole_) & mask_))                                   \
                continue;                                                                                       \
            *item = table->items[hole_];                                                                        \
            table->items[hole_] = moved_;                                                                       \
            hole_ = at_ & mask_;                                                                                \
        }                                                                                                       \
        table->count--;                                                                                         \
        return &table->items[hole_];                                                                            \
    }

/* The same for tables in an arena. */
#define TABLE(name, Table, Item, Key, first, taken, key_of, hash, same) \
    TABLE_IN(name, Table, Item, Key, Arena, arena_zalloc, TABLE_NO_GIVE, first, taken, key_of, hash, same)

#endif
