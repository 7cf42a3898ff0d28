/* Sites as whoever reads records needs them. */
#include "instrument/shapes.h"

#include "ptx/effects.h"

/* Whether hardware holds the threads that come to it until others come. */
static bool holds(const PtxModule *module, const PtxStatement *statement) {
    PtxEffect effects[PTX_EFFECTS_MOST];
    unsigned count = statement->kind == PTX_INSTRUCTION ? ptx_effects_of(module, statement, effects) : 0;
    for (unsigned i = 0; i < count; i++) {
        EffectVerb verb = effects[i].effect.verb;
        if (verb == EFFECT_NAMED_SYNC || verb == EFFECT_CTA_BARRIER || verb == EFFECT_CLUSTER_WAIT)
            return true;
    }
    return false;
}

RecordShape *site_shapes(const Sites *sites, const PtxModule *module, Arena *arena) {
    RecordShape *shapes = ARENA_ARRAY(arena, RecordShape, sites->count + 1);
    for (uint32_t i = 0; i < sites->count; i++) {
        const Site *site = &sites->items[i];
        shapes[i].parts = site->part_count;
        shapes[i].ticketed = site->ticketed;
        shapes[i].ends = site->ends;
        shapes[i].masked = site->masked;
        shapes[i].run = site->run;
        shapes[i].holds = holds(module, &module->statements[site->statement]);
        for (unsigned k = 0; k < site->part_count; k++)
            shapes[i].corners |= (uint16_t)((site->parts[k].shape == PART_CORNERS) << k);
        for (unsigned k = 0; k < site->part_count; k++)
            shapes[i].wide |= (uint16_t)((site->parts[k].bits == 64) << k);
    }
    return shapes;
}
