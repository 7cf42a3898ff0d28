/* Mode shadow: where a kernel touches global memory, and PTX that checks itself there (trace/shadow.h, src/device).
 *
 * Sites have numbers of their own, in the order of the text: what a report says is found again from the PTX alone. */
#ifndef INSTRUMENT_EMIT_SHADOW_H
#define INSTRUMENT_EMIT_SHADOW_H

#include "instrument/instrument.h"

typedef enum ShadowSiteKind {
    SHADOW_SITE_ACCESS, /* weak, by each thread by itself, up to 32 bytes */
    SHADOW_SITE_STRONG, /* an atomic, a load or store with an order */
    SHADOW_SITE_RANGE,  /* bytes one after the other, by a bulk copy */
    SHADOW_SITE_TILE,   /* a box of a tensor map, by a TMA copy */
    SHADOW_SITE_FENCE,
    SHADOW_SITE_COMMIT, /* of bulk copies */
    SHADOW_SITE_AWAIT,
    SHADOW_SITE_EXIT,      /* threads end */
    SHADOW_SITE_WAIT,      /* for launches before this one */
    SHADOW_SITE_REGISTERS, /* setmaxnreg */
    SHADOW_SITE_UNCHECKED, /* it may touch global memory, and is not checked: `why` */
} ShadowSiteKind;

typedef struct ShadowSite {
    uint32_t function, statement;
    ShadowSiteKind kind;
    uint8_t access;       /* KIND_READ, ... */
    uint8_t order, scope; /* Order and Scope of model/effect/effect.h */
    bool generic;         /* the address may be in another memory */
    bool compares;        /* an update that stores only if it finds what it compares with */
    uint32_t bytes;       /* of each thread; 0: an operand says */
    /* Operands of the module; PTX_NONE: none. */
    uint32_t address, count, limit, gives, compare;
    uint32_t map; /* the parameter whose tensor map it is, by its number; PTX_NONE: not known */
    const char *why;
} ShadowSite;

typedef struct ShadowSites {
    ShadowSite *items;
    uint32_t count;
    bool clocked;         /* something in a kernel may order two CTAs */
    bool copies;          /* bulk copies write global memory */
    bool strong;          /* there are strong accesses */
    bool fences;          /* there are fences of a device */
    bool waits_elsewhere; /* functions that kernels call wait for launches */
    Arena arena;
} ShadowSites;

bool shadow_sites(ShadowSites *sites, PtxModule *module, const char **problem);
void shadow_sites_free(ShadowSites *sites);
/* The same as a recording has them (instrument_table), to be given back by instrument_sites_free. */
bool shadow_as_sites(Sites *to, PtxModule *module, const char **problem);

/* How many sites, from one on, can be checked together: weak accesses of as many bytes, with nothing between them that
 * orders anything or jumps, whose addresses are known there. Behind the last of them; but loads alone before the first,
 * so that what they bring needs no registers meanwhile. */
typedef struct ShadowGroup {
    uint32_t count;
    bool before;
} ShadowGroup;
enum { SHADOW_GROUP = 8, SHADOW_SMALL_GROUP = 4 };
ShadowGroup shadow_group(const ShadowSites *sites, const PtxModule *module, uint32_t first);

/* PTX that it is made in, at least: 128-bit atomics are of 8.3. */
enum { SHADOW_VERSION = 83 };

/* Whether the runtime was built for that layout: there was a compiler for it. */
bool shadow_is_built(bool seed_layout);
/* As `instrument` of instrument.h. */
bool instrument_shadow(PtxModule *module, const InstrumentOptions *options, Text *to, const char **problem);
/* What an instrumented module defines beside INSTRUMENT_MARK, in global memory: { abi, sites, flags, bytes of a cell }
 * of 32 bits each. */
#define SHADOW_MARK "weir_shadow"
enum { SHADOW_MARK_CLOCKED = 1, SHADOW_MARK_COPIES = 2, SHADOW_MARK_SEED = 4, SHADOW_MARK_WAITS_ELSEWHERE = 8 };

#endif
