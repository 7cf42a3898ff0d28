/* Groups that spin.
 *
 * If a group comes back to the same instruction with the same registers, and nothing that it could notice has changed
 * meanwhile, it will do so again and again until something does: all that it does depends on these. So it stands still
 * until then (PTX_IS_SPINS), which costs nothing; and where nothing is left that could change something, that is a
 * proof that it never goes on. What is not known (a clock) is not compared: where such a thing decides, the state is
 * forgotten.
 *
 * A group may meet others at barriers on its way round. These are afterwards as they were before, so that its own state
 * still says all; but the others may need it there, to come to an end of their own. So it stands still for a while, and
 * iterates again if nothing can go, and something at a barrier was not found to come back to the same state and has
 * come further since the last time (spins_stir). When all of them come back, they spin forever together.
 *
 * A state is kept at the fourth jump back without a change, and then, as Brent's algorithm has it, at each power of two:
 * so any period is found, and of a loop that counts, the row in which it was seen last tells it apart at once. */
#include "machine/simt/core/internal.h"

enum { FIRST_KEPT = 4 };

typedef struct LivelockSpin {
    uint64_t changes, local_changes;
    uint32_t jumps, power; /* since something changed; when the next state is kept */
    bool kept;
    bool met; /* something at a barrier since the state was kept; the machine's meetings then: */
    uint64_t meetings;
    bool returns;    /* it came to the same state again since something changed */
    uint32_t rounds; /* that it goes before it stands still again, */
    uint32_t next_rounds;
    uint32_t stood_pc, stood_jumps; /* where it was at a barrier when others went round again for it */
    bool stood;
    uint32_t pc, lanes, hint;
    uint64_t serial; /* of the frame */
    uint32_t depth;
    Lanes *rows;
    uint32_t *masks, *row_unknown, *mask_unknown;
    uint32_t carry, row_capacity, mask_capacity;
    uint8_t *params;
    uint32_t param_capacity;
} LivelockSpin;

void spin_forget(PtxGroup *group) {
    LivelockSpin *spin = group->spin;
    if (!spin)
        return;
    spin->jumps = 0;
    spin->kept = spin->returns = spin->stood = false;
    spin->power = FIRST_KEPT;
    spin->rounds = 0;
    spin->next_rounds = 1;
}

static void make_room(PtxMachine *machine, LivelockSpin *spin, const PtxRoutine *routine) {
    Arena *arena = &machine->arena;
    uint32_t params = routine->param_bytes * PTX_LANES;
    if (!spin->rows || routine->rows > spin->row_capacity) {
        spin->rows = arena_alloc(arena, sizeof(Lanes) * (routine->rows + 1));
        spin->row_unknown = arena_alloc(arena, sizeof(uint32_t) * (routine->rows + 1));
        spin->row_capacity = routine->rows;
    }
    if (!spin->masks || routine->masks > spin->mask_capacity) {
        spin->masks = arena_alloc(arena, sizeof(uint32_t) * (routine->masks + 1));
        spin->mask_unknown = arena_alloc(arena, sizeof(uint32_t) * (routine->masks + 1));
        spin->mask_capacity = routine->masks;
    }
    if (!spin->params || params > spin->param_capacity) {
        spin->params = arena_alloc(arena, params + 1);
        spin->param_capacity = params;
    }
}

static void keep(PtxMachine *machine, LivelockSpin *spin, const PtxGroup *group) {
    spin->meetings = machine->meetings;
    const PtxFrame *frame = group->frame;
    const PtxRoutine *routine = frame->routine;
    make_room(machine, spin, routine);
    memcpy(spin->rows, frame->rows, sizeof(Lanes) * routine->rows);
    memcpy(spin->row_unknown, frame->row_unknown, sizeof(uint32_t) * routine->rows);
    memcpy(spin->masks, frame->masks, sizeof(uint32_t) * routine->masks);
    memcpy(spin->mask_unknown, frame->mask_unknown, sizeof(uint32_t) * routine->masks);
    memcpy(spin->params, frame->params, (size_t)routine->param_bytes * PTX_LANES);
    spin->carry = frame->carry;
    spin->serial = frame->serial;
    spin->depth = frame->depth;
    spin->pc = group->pc;
    spin->lanes = group->lanes;
    spin->kept = true;
    spin->hint = 0;
}

static bool row_differs(const LivelockSpin *spin, const PtxFrame *frame, uint32_t row) {
    uint32_t lanes = spin->lanes;
    if ((spin->row_unknown[row] ^ frame->row_unknown[row]) & lanes)
        return true;
    lanes &= ~frame->row_unknown[row];
    if (lanes == UINT32_MAX)
        return memcmp(&spin->rows[row], &frame->rows[row], sizeof(Lanes)) != 0;
    for (; lanes; lanes &= lanes - 1) {
        unsigned lane = (unsigned)__builtin_ctz(lanes);
        if (spin->rows[row].at[lane] != frame->rows[row].at[lane])
            return true;
    }
    return false;
}

static bool is_same(LivelockSpin *spin, const PtxGroup *group) {
    const PtxFrame *frame = group->frame;
    const PtxRoutine *routine = frame->routine;
    if (spin->serial != frame->serial || spin->lanes != group->lanes)
        return false;
    if (spin->hint < routine->rows && row_differs(spin, frame, spin->hint))
        return false;
    for (uint32_t i = 0; i < routine->masks; i++)
        if (((spin->mask_unknown[i] ^ frame->mask_unknown[i]) |
             ((spin->masks[i] ^ frame->masks[i]) & ~frame->mask_unknown[i])) &
            spin->lanes)
            return false;
    for (uint32_t i = 0; i < routine->rows; i++)
        if (row_differs(spin, frame, i)) {
            spin->hint = i;
            return false;
        }
    return !((spin->carry ^ frame->carry) & spin->lanes) &&
           !memcmp(spin->params, frame->params, (size_t)routine->param_bytes * PTX_LANES);
}

/* What is known of the group since something changed. */
static LivelockSpin *spin_of(PtxMachine *machine, PtxGroup *group) {
    uint64_t local_changes = pools_of(machine)->local_changes;
    LivelockSpin *spin = group->spin;
    if (!spin) {
        spin = group->spin = ARENA_NEW(&machine->arena, LivelockSpin);
        spin_forget(group);
    }
    if (spin->changes != machine->changes || spin->local_changes != local_changes) {
        spin_forget(group);
        spin->changes = machine->changes;
        spin->local_changes = local_changes;
    }
    return spin;
}

bool spin_jump(PtxMachine *machine, PtxGroup *group) {
    LivelockSpin *spin = spin_of(machine, group);
    spin->jumps++;
    if (spin->kept && spin->pc == group->pc && is_same(spin, group)) {
        spin->met = spin->meetings != machine->meetings;
        spin->returns = true;
        if (spin->rounds && spin->rounds--)
            return false;
        group->status = PTX_IS_SPINS;
        group->since = machine->changes;
        return true;
    }
    if (spin->jumps == spin->power) {
        keep(machine, spin, group);
        spin->power *= 2;
    } else if (spin->kept && group->frame->depth < spin->depth) {
        keep(machine, spin, group); /* that call is over, and does not come again */
    }
    return false;
}

/* ---- Those who may be needed at barriers ---- */

/* Whether the group is at a barrier, may come to an end of its own, and came further since it was last looked at. */
static bool is_worth_it(PtxMachine *machine, PtxGroup *group) {
    if (group->status != PTX_IS_NAMED && group->status != PTX_IS_CLUSTER)
        return false;
    LivelockSpin *spin = spin_of(machine, group);
    if (spin->returns || (spin->stood && spin->stood_pc == group->pc && spin->stood_jumps == spin->jumps))
        return false;
    spin->stood = true;
    spin->stood_pc = group->pc;
    spin->stood_jumps = spin->jumps;
    return true;
}

typedef bool AtGroup(PtxMachine *machine, PtxGroup *group);

static bool each_group(PtxMachine *machine, uint32_t cluster, AtGroup *at_group) {
    bool any = false;
    for (uint32_t i = 0; i < machine->cluster_size; i++) {
        PtxCta *cta = machine->ctas[cluster * machine->cluster_size + i];
        for (uint32_t k = 0; cta && k < cta->warp_count; k++)
            for (PtxGroup *group = cta->warps[k].groups; group; group = group->next)
                any |= at_group(machine, group);
    }
    return any;
}

static bool goes_around(PtxMachine *machine, PtxGroup *group) {
    const LivelockSpin *spin = group->spin;
    return group->status == PTX_IS_SPINS && group->since == machine->changes && spin->met;
}

/* For twice as long as the last time. */
static bool go_around(PtxMachine *machine, PtxGroup *group) {
    enum { MOST_ROUNDS = 1 << 12 };
    LivelockSpin *spin = group->spin;
    if (!goes_around(machine, group))
        return false;
    group->status = PTX_IS_READY;
    spin->rounds = spin->next_rounds - 1;
    spin->next_rounds = spin->next_rounds < MOST_ROUNDS ? 2 * spin->next_rounds : MOST_ROUNDS;
    return true;
}

bool spins_stir(PtxMachine *machine) {
    bool any = false;
    for (uint32_t cluster = 0; cluster < machine->cta_count / machine->cluster_size; cluster++)
        if (each_group(machine, cluster, goes_around) && each_group(machine, cluster, is_worth_it))
            any |= each_group(machine, cluster, go_around);
    return any;
}
