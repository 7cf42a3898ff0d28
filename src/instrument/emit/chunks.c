/* Where records go: the chunk that a warp starts with, and those that it gets when one is full. */
#include "instrument/internal.h"

#include <stddef.h>

#define OF(field) (unsigned)offsetof(RecordLaunch, field)

static uint32_t head_word(RecordKind kind, uint32_t site) {
    return record_word(0, kind, site);
}

void write_warp(InstrumentCode *code) {
    const PtxBlockShape *shape = code->body || !code->analysis->shaped ? NULL : &code->analysis->values.shape;
    code_say(code, "mov.u32 ~r0, %%ctaid.z");
    code_say(code, "mov.u32 ~r1, %%nctaid.y");
    code_say(code, "mov.u32 ~r2, %%ctaid.y");
    code_say(code, "mad.lo.u32 ~r2, ~r0, ~r1, ~r2");
    code_say(code, "mov.u32 ~r1, %%nctaid.x");
    code_say(code, "mov.u32 ~r0, %%ctaid.x");
    code_say(code, "mad.lo.u32 ~r2, ~r2, ~r1, ~r0");
    if (shape && shape->y * shape->z == 1) {
        code_say(code, "mov.u32 ~r0, %%tid.x");
        code_say(code, "shr.u32 ~r0, ~r0, 5");
        code_say(code, "mad.lo.u32 ~r3, ~r2, %u, ~r0", (shape->x + RECORD_LANES - 1) / RECORD_LANES);
        return;
    }
    code_say(code, "mov.u32 ~r0, %%ntid.y");
    code_say(code, "mov.u32 ~r1, %%tid.z");
    code_say(code, "mov.u32 ~r3, %%tid.y");
    code_say(code, "mad.lo.u32 ~r3, ~r1, ~r0, ~r3");
    code_say(code, "mov.u32 ~r1, %%ntid.x");
    code_say(code, "mul.lo.u32 ~r0, ~r0, ~r1");
    code_say(code, "mov.u32 ~r4, %%tid.x");
    code_say(code, "mad.lo.u32 ~r3, ~r3, ~r1, ~r4");
    code_say(code, "shr.u32 ~r3, ~r3, 5");
    code_say(code, "mov.u32 ~r1, %%ntid.z");
    code_say(code, "mad.lo.u32 ~r0, ~r0, ~r1, %u", RECORD_LANES - 1);
    code_say(code, "shr.u32 ~r0, ~r0, 5");
    code_say(code, "mad.lo.u32 ~r3, ~r2, ~r0, ~r3");
}

void write_unit(InstrumentCode *code, const char *leader, uint32_t offset, uint32_t word, const char *mask,
                const char *lo, const char *hi) {
    code_say(code, "or.b32 ~word, ~tag, 0x%x", word);
    code_say(code, "@%s st.global.v4.b32 [~ptr+%u], {~word, %s, %s, %s}", leader, offset * RECORD_UNIT, mask, lo, hi);
}

/* ---- The start --------------------------------------------------------------------------------------------- */

/* Where variables are. */
static void write_variables(InstrumentCode *code) {
    const PtxModule *module = code->analysis->module;
    uint32_t variables[RECORD_VARIABLES], count = instrument_shared(module, code->analysis->function, variables);
    uint32_t globals[RECORD_GLOBALS], global_count = instrument_globals(module, code->analysis->function, globals);
    for (uint32_t i = 0; i < count; i++) {
        Str name = ptx_name(module, module->variables[variables[i]].name);
        code_say(code, "mov.u32 ~r1, %.*s", (int)name.size, name.data);
        code_say(code, "add.u32 ~r1, ~r1, 1");
        code_say(code, "@~q1 st.global.b16 [~e0+%u], ~r1", OF(places.shared_at) + 2 * i);
    }
    for (uint32_t i = 0; i < global_count; i++) {
        Str name = ptx_name(module, module->variables[globals[i]].name);
        code_say(code, "mov.b64 ~e1, %.*s", (int)name.size, name.data);
        code_say(code, "@~q1 st.global.b64 [~e0+%u], ~e1", OF(places.global_at) + 8 * i);
    }
}

/* The generic addresses of shared and local memory, and of parameters, by the first warp of the grid; those that some
 * address may be in. */
static void write_windows(InstrumentCode *code) {
    const PtxFunction *function = &code->analysis->module->functions[code->analysis->function];
    code_say(code, "setp.eq.and.u32 ~q1, ~r3, 0, ~lead");
    if (code->plan->windows) {
        code_say(code, "mov.b64 ~e1, 0");
        code_say(code, "cvta.shared.u64 ~e2, ~e1");
        code_say(code, "cvta.local.u64 ~e3, ~e1");
        code_say(code, "@~q1 st.global.b64 [~e0+%u], ~e2", OF(shared_window));
        code_say(code, "@~q1 st.global.b64 [~e0+%u], ~e3", OF(local_window));
    }
    write_variables(code);
    if (!code->plan->parameters || !function->parameter_count)
        return;
    Str name = ptx_name(code->analysis->module, code->analysis->module->variables[function->parameters].name);
    code_say(code, "mov.b64 ~e1, %.*s", (int)name.size, name.data);
    code_say(code, "cvta.param.u64 ~e1, ~e1");
    code_say(code, "@~q1 st.global.b64 [~e0+%u], ~e1", OF(param_window));
}

/* A warp whose first chunk has begun is not recorded. All lanes look before one of them begins it. */
static void write_once(InstrumentCode *code) {
    code_say(code, "mov.b32 ~r0, 0");
    code_say(code, "@!~q0 ld.volatile.global.b32 ~r0, [~ptr]");
    code_say(code, "activemask.b32 ~r1");
    code_say(code, "bar.warp.sync ~r1");
    code_say(code, "or.b32 ~word, ~tag, 0x%x", head_word(RECORD_CHUNK, RECORD_CHUNK_FIRST));
    code_say(code, "setp.eq.or.u32 ~q0, ~r0, ~word, ~q0");
}

/* The warp's first chunk (RecordSample). CTAs that are not recorded write to a chunk that is not read, or nothing, if
 * lane 0 is all that writes. */
static void write_sample(InstrumentCode *code) {
    code_say(code, "ld.global.v4.b32 {~r0, ~r1, ~r2, ~r4}, [~e0+%u]", OF(sample));
    code_say(code, "mul.wide.u32 ~e2, ~r3, ~r0");
    code_say(code, "shr.u64 ~e2, ~e2, ~r1");
    code_say(code, "cvt.u32.u64 ~r0, ~e2");
    code_say(code, "mul.lo.u32 ~r2, ~r0, ~r2");
    code_say(code, "sub.u32 ~r2, ~r3, ~r2");
    code_say(code, "setp.ge.u32 ~q0, ~r2, ~r4");
    code_say(code, "mad.lo.u32 ~r2, ~r0, ~r4, ~r2");
    code_say(code, "mad.wide.u32 ~ptr, ~r2, %u, ~ptr", code->chunk);
    if (code->plan->once)
        write_once(code);
    if (!code->plan->lone) {
        code_say(code, "ld.global.b32 ~r0, [~e0+%u]", OF(more_count));
        code_say(code, "mad.wide.u32 ~e2, ~r0, %u, ~e1", code->chunk);
        code_say(code, "selp.b64 ~ptr, ~e2, ~ptr, ~q0");
    }
    code_say(code, "mov.u32 ~lane, %%laneid");
    if (!code->plan->together) {
        /* Other lanes have no chunk yet: that is one that is full. */
        code_say(code, "setp.ne.and.u32 ~q1, ~lane, 0, !~q0");
        code_say(code, "selp.b64 ~ptr, %u, ~ptr, ~q1", code->chunk - RECORD_UNIT);
        code_say(code, "mov.b32 ~count, 0");
    }
    code_say(code, "setp.eq.and.u32 ~lead, ~lane, 0, !~q0");
    if (code->plan->corners) {
        code_say(code, "popc.b32 ~r1, ~lane");
        code_say(code, "setp.le.and.u32 ~corner, ~r1, 1, !~q0");
        code_say(code, "clz.b32 ~r1, ~lane"); /* 32 of lane 0 */
        code_say(code, "sub.u32 ~r1, 32, ~r1");
        code_say(code, "shl.b32 ~cornerat, ~r1, 3");
    }
    if (code->plan->every) {
        code_say(code, "shl.b32 ~everyat, ~lane, 2");
        code_say(code, "not.pred ~inside, ~q0");
    }
}

void write_prologue(InstrumentCode *code) {
    if (code->plan->called) {
        write_state_start(code);
        return;
    }
    const PtxBlockShape *shape = &code->analysis->values.shape;
    uint64_t threads = (uint64_t)shape->x * shape->y * shape->z;
    write_launch(code, "~e0");
    code_say(code, "ld.global.v2.b64 {~ptr, ~e1}, [~e0+%u]", OF(first));
    write_warp(code);
    code_say(code, "ld.global.b32 ~tag, [~e0+%u]", OF(tag));
    write_sample(code);
    code_say(code, "mov.b32 ~zero, 0");
    if (code->analysis->shaped && threads % RECORD_LANES == 0)
        code_say(code, "mov.b32 ~full, -1");
    else
        code_say(code, "activemask.b32 ~full");
    write_unit(code, "~lead", 0, head_word(RECORD_CHUNK, RECORD_CHUNK_FIRST), "~r3", "~zero", "~zero");
    if (!code->plan->start)
        code_say(code, code->plan->together ? "add.s64 ~ptr, ~ptr, %u" : "@~lead add.s64 ~ptr, ~ptr, %u", RECORD_UNIT);
    write_windows(code);
    if (code->plan->calls)
        write_state_made(code);
}

void write_dropped(InstrumentCode *code, const char *predicate, const char *launch, const char *free, unsigned what) {
    code_say(code, "mov.b32 %s, 1", free);
    code_say(code, "@%s st.global.b8 [%s+%u], %s", predicate, launch, OF(dropped) + (unsigned)__builtin_ctz(what) / 8,
             free);
}

/* ---- Further chunks ---------------------------------------------------------------------------------------- */

/* For the warp, by lane 0, which is there alone if nothing else needs a pointer. An increment, because ptxas makes a
 * dozen instructions of an add that several lanes may make at once; there are less than 2^31 chunks. CTAs that are not
 * recorded have no leader: they stay where nothing looks, which is the chunk behind the last; and so does who
 * finds that there is none left, and names that one. Of whom the new chunk is, the old one says. */
static void write_refill_together(InstrumentCode *code, uint32_t offset) {
    bool lone = code->plan->lone;
    const char *leads = lone ? "" : "@~lead ";
    write_launch(code, "~e0");
    code_say(code, "ld.global.b32 ~r0, [~e0+%u]", OF(more_count));
    code_say(code, "ld.global.b64 ~e1, [~e0+%u]", OF(more));
    if (!lone)
        code_say(code, "mov.b32 ~r1, ~r0");
    code_say(code, "%satom.global.inc.u32 ~r1, [~e0+%u], %u", leads, OF(next), INT32_MAX);
    code_say(code, "min.u32 ~r1, ~r1, ~r0");
    code_say(code, "or.b32 ~word, ~tag, 0x%x", head_word(RECORD_NEXT, 0));
    code_say(code, "%sst.global.v2.b32 [~ptr+%u], {~word, ~r1}", leads, offset * RECORD_UNIT);
    if (!lone)
        code_say(code, "shfl.sync.idx.b32 ~r1, ~r1, 0, 31, ~full");
    code_say(code, "mad.wide.u32 ~ptr, ~r1, %u, ~e1", code->chunk);
    code_say(code, "or.b32 ~word, ~tag, 0x%x", head_word(RECORD_CHUNK, RECORD_CHUNK_OF_LINK));
    code_say(code, "%sst.global.b32 [~ptr], ~word", leads);
    if (offset != 1)
        code_say(code, "add.s64 ~ptr, ~ptr, %d", RECORD_UNIT - (int)offset * RECORD_UNIT);
}

/* For a lane that leads, which may have had none before. Where there is none left, the old one says so by the number
 * behind the last; if there is no old one, the launch is marked. */
void write_refill_alone(InstrumentCode *code, uint32_t offset) {
    write_launch(code, "~e0");
    code_say(code, "ld.global.b64 ~e1, [~e0+%u]", OF(more));
    code_say(code, "ld.global.b32 ~r0, [~e0+%u]", OF(more_count));
    code_say(code, "mad.wide.u32 ~e2, ~r0, %u, ~e1", code->chunk);
    code_say(code, "add.s64 ~e3, ~ptr, %u", offset * RECORD_UNIT);
    code_say(code, "and.b64 ~e4, ~e3, -%u", code->chunk);
    code_say(code, "setp.ne.s64 ~q0, ~e4, ~e2");
    code_say(code, "mov.b32 ~r1, ~r0");
    code_say(code, "@~q0 atom.global.inc.u32 ~r1, [~e0+%u], %u", OF(next), INT32_MAX);
    code_say(code, "setp.ge.and.u32 ~q1, ~r1, ~r0, ~q0");
    code_say(code, "min.u32 ~r1, ~r1, ~r0");
    code_say(code, "mad.wide.u32 ~e2, ~r1, %u, ~e1", code->chunk);
    code_say(code, "or.b32 ~word, ~tag, 0x%x", head_word(RECORD_NEXT, 0));
    code_say(code, "setp.ge.u64 ~q2, ~e3, %u", code->chunk);
    code_say(code, "setp.ge.and.u64 ~q0, ~e3, %u, ~q0", code->chunk);
    code_say(code, "@~q0 st.global.v2.b32 [~e3], {~word, ~r1}");
    code_say(code, "setp.lt.and.u64 ~q1, ~e3, %u, ~q1", code->chunk);
    write_dropped(code, "~q1", "~e0", "~r1", RECORD_DROPPED_FIRST);
    write_warp(code);
    code_say(code, "selp.b32 ~r0, 0x%x, 0x%x, ~q2", head_word(RECORD_CHUNK, 0),
             head_word(RECORD_CHUNK, RECORD_CHUNK_FIRST));
    code_say(code, "or.b32 ~word, ~tag, ~r0");
    code_say(code, "mov.u32 ~r0, %%laneid");
    code_say(code, "st.global.v4.b32 [~e2], {~word, ~r3, ~r0, ~count}");
    code_say(code, "add.s64 ~ptr, ~e2, %d", RECORD_UNIT - (int)offset * RECORD_UNIT);
}

/* The same, by a call. */
static void write_refill_call(InstrumentCode *code, uint32_t offset) {
    if (offset)
        code_say(code, "add.s64 ~ptr, ~ptr, %u", offset * RECORD_UNIT);
    write_chunk_call(code);
    if (offset)
        code_say(code, "sub.s64 ~ptr, ~ptr, %u", offset * RECORD_UNIT);
}

void write_refill(InstrumentCode *code, uint32_t offset) {
    if (code->plan->together)
        write_refill_together(code, offset);
    else
        (code->bodies ? write_refill_call : write_refill_alone)(code, offset);
}

void write_room(InstrumentCode *code, uint32_t units) {
    bool all = code->plan->together && !code->plan->lone;
    code_say(code, "cvt.u32.u64 ~t0, ~ptr");
    code_say(code, "and.b32 ~t0, ~t0, %u", code->chunk - 1);
    uint32_t limit = code->chunk - RECORD_UNIT * (1 + units + code->plan->start);
    if (all)
        code_say(code, "setp.gt.u32 ~p2, ~t0, %u", limit);
    else
        code_say(code, "setp.gt.and.u32 ~p2, ~t0, %u, ~lead", limit);
    Cold cold = cold_begin(code, "~p2", all);
    write_refill(code, code->plan->start);
    cold_end(code, cold);
}
