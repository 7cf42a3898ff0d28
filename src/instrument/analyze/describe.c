/* What the reader of a site's records has to know of its instruction: whom threads meet there, and whether it only
 * looks. */
#include "instrument/internal.h"

#include "ptx/effects.h"

static RecordSyncs meets(EffectVerb verb) {
    switch (verb) {
    case EFFECT_NAMED_SYNC:
    case EFFECT_CTA_BARRIER:
        return RECORD_SYNCS_NAMED;
    case EFFECT_NAMED_ARRIVE:
        return RECORD_SYNCS_NAMED_ARRIVE;
    case EFFECT_CLUSTER_ARRIVE:
        return RECORD_SYNCS_CLUSTER_ARRIVE;
    case EFFECT_CLUSTER_WAIT:
        return RECORD_SYNCS_CLUSTER_WAIT;
    case EFFECT_WARP_SYNC:
        return RECORD_SYNCS_LANES;
    default:
        return RECORD_SYNCS_NONE;
    }
}

/* Whether its value is not what it was before the shapes are bound to a launch. */
static bool needs_launch(const SitePart *part) {
    return (part->apart && part->apart->term_count) || (part->placed && part->placed->address != SITE_NONE);
}

/* In a register that the records do not have, it is in no part that they have, and so not known. */
static RecordNumber number_of(const PtxModule *module, const Site *site, const PtxOperand *operand) {
    RecordNumber number = {.given = operand != NULL};
    if (!operand || operand->kind == PTX_INTEGER) {
        number.value = operand ? (uint32_t)operand->value : 0;
        return number;
    }
    number.part = RECORD_PARTS + 1;
    for (uint8_t k = 0; k < site->part_count; k++)
        if (site->parts[k].operand == (uint32_t)(operand - module->operands) && !needs_launch(&site->parts[k])) {
            number.part = k + 1;
            number.uniform = site->parts[k].shape == PART_UNIFORM;
        }
    return number;
}

/* Whom threads meet there. bar.red d, id, p has no count: what is missing is in the middle. */
static void describe_sync(const PtxModule *module, const PtxStatement *statement, const PtxEffect *effect, Site *site) {
    uint32_t operands;
    const PtxOperand *threads = ptx_effect_operand(module, statement, effect->count);
    if (ptx_operands(module, statement, &operands) + operands - 1 == threads && operands == 3)
        threads = NULL;
    site->syncs = (uint8_t)meets(effect->effect.verb);
    site->syncs_at = number_of(module, site, ptx_effect_operand(module, statement, effect->on));
    site->syncs_count = number_of(module, site, threads);
    site->syncs_by = effect->effect.relaxed ? 1 + statement->what : 0;
}

void describe_site(const PtxModule *module, Site *site) {
    const PtxStatement *statement = &module->statements[site->statement];
    PtxEffect effects[PTX_EFFECTS_MOST];
    unsigned count = statement->kind == PTX_INSTRUCTION ? ptx_effects_of(module, statement, effects) : 0;
    site->polls = site->strong && count;
    for (unsigned i = 0; i < count; i++) {
        site->polls &= effects[i].effect.verb != EFFECT_WRITE && effects[i].effect.verb != EFFECT_UPDATE;
        if (!site->only_emits && !site->ends && !site->syncs && meets(effects[i].effect.verb))
            describe_sync(module, statement, &effects[i], site);
    }
    site->always = !site->ends && !site->waits && !site->only_emits && !(statement->flags & PTX_GUARDED);
}
