/* Records of sites that a part of a warp's lanes may come to: the lowest of those that do writes them, to a chunk of
 * its own. */
#include "instrument/internal.h"

void write_first(InstrumentCode *code) {
    code_say(code, "mov.u32 ~t0, %%lanemask_lt");
    code_say(code, "and.b32 ~t0, ~t0, ~mask");
    code_say(code, "setp.eq.u32 ~first, ~t0, 0");
}

/* The values of all lanes that are there, behind a head. */
static void write_list(InstrumentCode *code, unsigned bits) {
    unsigned bytes = bits / 8;
    code_say(code, "brev.b32 ~t1, ~mask");
    code_say(code, "clz.b32 ~t1, ~t1");
    code_say(code, "mov.b64 {~t2, ~t3}, ~ptr");
    code_say(code, "shfl.sync.idx.b32 ~t2, ~t2, ~t1, 31, ~mask");
    code_say(code, "shfl.sync.idx.b32 ~t3, ~t3, ~t1, 31, ~mask");
    code_say(code, "mov.b64 ~d1, {~t2, ~t3}");
    code_say(code, "mov.u32 ~t1, %%lanemask_lt");
    code_say(code, "and.b32 ~t1, ~t1, ~mask");
    code_say(code, "popc.b32 ~t1, ~t1");
    code_say(code, "mad.wide.u32 ~d1, ~t1, %u, ~d1", bytes);
    code_say(code, "st.global.b%u [~d1+%u], %s", bits, RECORD_UNIT, bytes == 8 ? "~value" : "~lo");
    code_say(code, "@~first st.global.v4.b32 [~ptr], {~word, ~mask, ~zero, ~zero}");
    code_say(code, "popc.b32 ~t1, ~mask");
    code_say(code, "mad.lo.u32 ~t1, ~t1, %u, %u", bytes, 2 * RECORD_UNIT - 1);
    code_say(code, "and.b32 ~t1, ~t1, -%u", RECORD_UNIT);
    code_say(code, "cvt.u64.u32 ~d1, ~t1");
    code_say(code, "@~first add.s64 ~ptr, ~ptr, ~d1");
}

static void write_one(InstrumentCode *code, uint32_t word, const char *lo, const char *hi) {
    write_unit(code, "~first", 0, word, "~mask", lo, hi);
    code_say(code, "@~first add.s64 ~ptr, ~ptr, %u", RECORD_UNIT);
}

static void write_part(InstrumentCode *code, const InstrumentStep *step, const SitePart *part) {
    uint32_t list = new_label(code), done = new_label(code);
    bool wide = part->bits == 64, uniform = part->shape == PART_UNIFORM;
    bool proven = part_is_one(part) && part->shape != PART_TABLE;
    /* Of a table nothing is taken away: who has the same value is one lane, or some that are equal in it. */
    uint32_t word =
        part->shape == PART_TABLE ? record_word(0, RECORD_UNIFORM, step->site->number) : part_word(step->site, part);
    write_part_value(code, step, part);
    if (!uniform || !proven)
        write_base(code, part);
    if (!proven) {
        code_say(code, "match.all.sync.b%u ~t1|~p1, %s, ~mask", part->bits, wide ? "~d0" : "~t0");
        code_say(code, "@!~p1 bra ~L%u", list);
    }
    if (wide && (!uniform || !proven))
        code_say(code, "mov.b64 {~lo, ~hi}, ~d0");
    write_one(code, word, wide || (uniform && proven) ? "~lo" : "~t0", "~hi");
    if (proven)
        return;
    code_say(code, "bra ~L%u", done);
    code_label(code, list);
    code_say(code, "or.b32 ~word, ~tag, 0x%x", record_word(0, RECORD_LIST, step->site->number));
    write_list(code, part->bits);
    code_label(code, done);
}

/* Who is there, who leads, how far they have counted, and whether the leader has room. */
static void write_head(InstrumentCode *code, const InstrumentStep *step) {
    uint32_t limit = code->chunk - RECORD_UNIT * (1 + step->room + code->plan->most);
    code_say(code, "activemask.b32 ~mask");
    write_first(code);
    write_count(code, "~mask");
    code_say(code, "cvt.u32.u64 ~t0, ~ptr");
    code_say(code, "and.b32 ~t0, ~t0, %u", code->chunk - 1);
    code_say(code, "setp.gt.and.u32 ~p2, ~t0, %u, ~first", limit);
    Cold cold = cold_begin(code, "~p2", false);
    write_refill(code, 0);
    cold_end(code, cold);
    write_one(code, record_word(0, RECORD_STAMP, 0), "~count", "~zero");
}

/* ptxas would write the record behind where lanes wait for each other, which a thread that waits in vain never reaches.
 */
static void write_settled(InstrumentCode *code, const Site *site) {
    if (site_settles(site))
        code_say(code, "bar.warp.sync ~mask");
}

void write_apart(InstrumentCode *code, const InstrumentStep *step) {
    const Site *site = step->site;
    const char *predicate = step_predicate(code, step);
    uint32_t over = new_label(code);
    if (*predicate)
        code_say(code, *predicate == '!' ? "@%s bra ~L%u" : "@!%s bra ~L%u",
                 *predicate == '!' ? predicate + 1 : predicate, over);
    code->headed &= step->headed;
    if (step->grouped) {
        write_grouped(code, step);
        write_settled(code, site);
        if (*predicate)
            code_label(code, over);
        return;
    }
    if (!step->headed)
        write_head(code, step);
    code->headed = true;
    code_say(code, "add.u32 ~count, ~count, 1");
    if (site->map) {
        write_map(code, step, "~first", "~mask", 0);
        code_say(code, "@~first add.s64 ~ptr, ~ptr, %u", RECORD_UNIT + 128);
    }
    if (!site->part_count)
        write_one(code, record_word(0, site->ends ? RECORD_EXIT : RECORD_PLAIN, site->number), "~zero", "~zero");
    for (uint32_t i = 0; i < site->part_count; i++)
        write_part(code, step, &site->parts[i]);
    write_settled(code, site);
    if (*predicate)
        code_label(code, over);
}
