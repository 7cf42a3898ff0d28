/* What decides how records are read, as one number: a recording is read by a Weir that reads them so. How large chunks
 * are does not: a recording says that itself. */
#include "instrument/instrument.h"

#include "trace/file.h"

typedef struct Mix {
    uint64_t hash;
} Mix;

static void add(Mix *mix, uint64_t word) {
    mix->hash = (mix->hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    mix->hash ^= mix->hash >> 29;
}

static void add_sum(Mix *mix, const PtxSum *sum) {
    add(mix, sum ? (uint64_t)sum->width << 8 | sum->term_count : 0);
    for (unsigned i = 0; sum && i < sum->term_count; i++)
        add(mix, (uint64_t)sum->terms[i].variable << 32 | sum->terms[i].offset << 1 | sum->terms[i].subtracted);
    add(mix, sum ? sum->constant : 0);
}

static void add_placed(Mix *mix, const SitePlaced *placed) {
    if (!placed)
        return;
    add(mix, (uint64_t)placed->address << 32 | placed->warps);
    for (unsigned i = 0; i < 3; i++)
        add(mix, placed->ctaid[i]);
    for (uint32_t i = 0; i < placed->warps; i++)
        add(mix, placed->of_warp[i]);
}

static void add_part(Mix *mix, const SitePart *part) {
    add(mix, part->operand);
    add(mix, (uint64_t)part->bits << 24 | (uint64_t)part->generic << 2 | (uint64_t)part->data << 1 | part->reported);
    add(mix, (uint64_t)part->shape << 40 | (uint64_t)part->from << 32 | (uint64_t)part->place << 16 | part->also);
    add(mix, (uint64_t)part->stride);
    if (part->shape == PART_BIT)
        add(mix, part->least);
    add(mix, part->threads);
    for (uint32_t i = 0; i < part->threads; i++)
        add(mix, part->offsets[i]);
    add_sum(mix, part->apart);
    add_placed(mix, part->placed);
}

static void add_site(Mix *mix, const Site *site) {
    const bool flags[] = {site->ends,       site->strong, site->large, site->fetches, site->masked,
                          site->only_emits, site->all,    site->bare,  site->tests};
    uint64_t bits = 0;
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        bits |= (uint64_t)flags[i] << i;
    add(mix, (uint64_t)site->statement << 32 | site->function);
    add(mix, (uint64_t)site->run << 32 | (uint64_t)site->part_count << 16 | bits);
    if (site->poll.reported)
        add(mix, site->poll.operand);
    if (site->unnamed)
        add(mix, site->unnamed);
    for (uint32_t i = 0; i < site->part_count; i++)
        add_part(mix, &site->parts[i]);
    for (uint32_t i = 0; site->of && i < site->of_count; i++)
        add(mix, site->of[i]);
    for (uint32_t i = 0; i < site->slot_count; i++)
        add(mix, (uint64_t)site->slots[i].slot << 32 | site->slots[i].bits << 1 | site->slots[i].corners);
    for (uint32_t i = 0; i < site->advance_count; i++) {
        add(mix, (uint64_t)site->advances[i].slot << 32 | site->advances[i].by);
        add_sum(mix, site->advances[i].apart);
        add_placed(mix, site->advances[i].placed);
        if (site->advances[i].starts)
            add(mix, 1);
    }
}

uint64_t instrument_fingerprint(const Sites *sites) {
    Mix mix = {(uint64_t)INSTRUMENT_RECORDS << 32 | RECORDING_ABI};
    add(&mix, sites->count);
    for (uint32_t i = 0; i < sites->count; i++)
        add_site(&mix, &sites->items[i]);
    return mix.hash ? mix.hash : 1;
}
