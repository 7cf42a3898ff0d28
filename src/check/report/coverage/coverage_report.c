/* The tables of coverage, and findings for what is missing in them. */
#include "check/report/coverage/coverage_internal.h"

#include "check/explain/place.h"
#include "model/layout/layout.h"

#include <stdlib.h>

/* Allocations whose memory overlaps, by whatever chain. */
typedef struct CoverageReportShare {
    uint32_t storage;
    int64_t begin, end;
    const Allocation *owner; /* the largest */
    uint32_t count;
} CoverageReportShare;

typedef struct CoverageReportTables {
    Coverage *coverage;
    Builder *builder;
    Verdict *verdict;
    const CoverageReportShare **shares; /* of each allocation */
    MissingEdge *missing;
    size_t missing_count;
} CoverageReportTables;

enum { MOST_EDGES = 64, MOST_MORE_READS = 4 };

/* ---- Shared storage ------------------------------------------------------------------------------- */

static int compare_allocations(const void *a, const void *b) {
    const Allocation *x = *(const Allocation *const *)a, *y = *(const Allocation *const *)b;
    COMPARE(x->storage, y->storage);
    COMPARE(allocation_begin(x), allocation_begin(y));
    return x < y ? -1 : x > y;
}

static void find_shares(CoverageReportTables *tables) {
    const Allocations *allocations = &tables->coverage->machine->program->allocations;
    Arena *arena = tables->coverage->arena;
    const Allocation **sorted = ARENA_ARRAY(arena, const Allocation *, allocations->count + 1);
    tables->shares = ARENA_ARRAY(arena, const CoverageReportShare *, allocations->count + 1);
    for (uint32_t i = 0; i < allocations->count; i++)
        sorted[i] = &allocations->items[i];
    qsort(sorted, allocations->count, sizeof *sorted, compare_allocations);
    CoverageReportShare *share = NULL;
    for (uint32_t i = 0; i < allocations->count; i++) {
        const Allocation *allocation = sorted[i];
        int64_t begin = allocation_begin(allocation), end = begin + (allocation->size > 0 ? allocation->size : 0);
        if (!share || share->storage != allocation->storage || begin >= share->end) {
            share = ARENA_NEW(arena, CoverageReportShare);
            *share =
                (CoverageReportShare){.storage = allocation->storage, .begin = begin, .end = end, .owner = allocation};
        }
        share->count++;
        share->end = end > share->end ? end : share->end;
        if (allocation->size > share->owner->size ||
            (allocation->size == share->owner->size && allocation < share->owner))
            share->owner = allocation;
        tables->shares[allocation - allocations->items] = share;
    }
}

static const CoverageReportShare *share_of(const CoverageReportTables *tables, const CoverageBuffer *buffer) {
    return tables->shares[buffer->backing->allocation - tables->coverage->machine->program->allocations.items];
}

/* ---- Names ---------------------------------------------------------------------------------------- */

static const char *partition_name(const CoverageReportTables *tables, uint32_t agent) {
    return builder_agent(tables->builder, agent % tables->coverage->machine->program->agents_per_cta);
}

/* Who does it: the agent, or one of its helpers. */
static Helper helper_of(const CoverageReportTables *tables, const CoverageTouch *touch) {
    return clocks_immediate(tables->coverage->clocks, touch->effect) ? HELPER_BASE : touch->effect->effect.helper;
}

static const char *actor_name(const CoverageReportTables *tables, const CoverageTouch *touch) {
    Text text = {0};
    agent_name(tables->coverage->machine, touch->agent, helper_of(tables, touch), &text);
    return verdict_keep(tables->verdict, &text);
}

static const char *buffer_name(const CoverageReportTables *tables, CoverageBuffer *buffer) {
    return coverage_buffer_name(tables->coverage, tables->builder, buffer);
}

/* "acc_empty[0]"; without the slot if there were several. */
static const char *barrier_label(const CoverageReportTables *tables, uint32_t barrier, bool any_slot) {
    BarrierPlace place = barrier_place(tables->coverage->machine, barrier);
    if (!place.allocation)
        return verdict_text(tables->verdict, "the barrier at byte %lld", (long long)place.slot);
    const char *name = name_of(tables->builder->names, place.allocation->op);
    const char *side = place.side == SIDE_FULL ? ".full" : place.side == SIDE_EMPTY ? ".empty" : "";
    return any_slot ? verdict_text(tables->verdict, "%s%s", name, side)
                    : verdict_text(tables->verdict, "%s%s[%lld]", name, side, (long long)place.slot);
}

static const char *group_name(GroupKind kind) {
    static const char *const names[] = {"groups",     "cp.async groups", "bulk groups",  "wgmma groups",
                                        "TMA stores", "async copies",    "tensor copies"}; /* ORDER GroupKind */
    return names[kind];
}

/* "column 64", "bytes 0-16383, rows 0-63"; rows only where they are not all that the other has. */
static const char *extent_text(const CoverageReportTables *tables, const CoverageBuffer *of, CoverageBox box,
                               const CoverageBox *all) {
    int64_t from = share_of(tables, of)->begin;
    const char *extent =
        builder_extent(tables->builder, of->backing->allocation->space, box.begin - from, box.end - from);
    if (box.first_row == all->first_row && box.end_row == all->end_row)
        return extent;
    Text text = {0};
    text_addf(&text, "%s, ", extent);
    text_extent(&text, "row", box.first_row, box.end_row);
    return verdict_keep(tables->verdict, &text);
}

/* "buffer.id 8", "%ring" */
static const char *storage_name(const CoverageReportTables *tables, const CoverageBuffer *buffer) {
    const CoverageReportShare *share = share_of(tables, buffer);
    int64_t id;
    return op_integer(share->owner->op, "buffer.id", &id)
               ? verdict_text(tables->verdict, "buffer.id %lld", (long long)id)
               : value_text(tables->builder->arena, &share->owner->op->results[0]);
}

/* "buffer.id 8 (tensor, 128 columns)", "%ring (shared, 3 slots of 16384 bytes)" */
static const char *storage_text(const CoverageReportTables *tables, const CoverageBuffer *buffer) {
    const CoverageReportShare *share = share_of(tables, buffer);
    const Allocation *owner = share->owner;
    const Layout *layout = layout_of(tables->builder->module, owner->op->results[0].type);
    int64_t slots = layout && owner->size > 0 ? layout->stages : 1;
    return builder_storage(tables->builder, storage_name(tables, buffer), owner->space, slots,
                           slots > 1 ? owner->size / slots : share->end - share->begin);
}

static ReportPlace place_of(const CoverageReportTables *tables, const CoverageTouch *touch, uint64_t times) {
    ReportPlace place = builder_place(tables->builder, tables->coverage->machine->program->ops[touch->pc]);
    static const char *const helpers[] = {"", ".tma", ".tensor", ".clc"}; /* ORDER Helper */
    place.partition =
        verdict_text(tables->verdict, "%s%s", partition_name(tables, touch->agent), helpers[helper_of(tables, touch)]);
    place.times = times;
    return place;
}

/* ---- What orders a row ---------------------------------------------------------------------------- */

/* The kind of groups that an instruction waits for. */
static GroupKind awaited_group(const CoverageReportTables *tables, uint32_t pc) {
    const Program *program = tables->coverage->machine->program;
    const Instruction *instruction = &program->code[pc];
    for (uint32_t i = 0; instruction->code == CODE_EFFECTS && i < instruction->a; i++)
        if (program->effects[instruction->aux + i].effect.verb == EFFECT_AWAIT)
            return program->effects[instruction->aux + i].effect.group;
    return GROUP_NONE;
}

static void add_raise(const CoverageReportTables *tables, const CoverageRow *row, const Way *way, Text *to) {
    const Raise *raise = &way->raise;
    uint32_t line = op_line(tables->builder->module, tables->coverage->machine->program->ops[raise->pc]);
    const char *writer = partition_name(tables, row->write->agent);
    switch ((RaiseKind)raise->kind) {
    case RAISE_WAIT:
        text_addf(to, "%s waits for %s", writer, barrier_label(tables, raise->barrier, way->slots_differ));
        break;
    case RAISE_NAMED:
        text_addf(to, "%s waits at named barrier %u", writer, raise->barrier % NAMED_BARRIERS);
        break;
    case RAISE_CLUSTER:
        text_addf(to, "%s waits for the cluster", writer);
        break;
    case RAISE_AWAIT:
        text_addf(to, "%s waits for its %s", writer, group_name(awaited_group(tables, raise->pc)));
        break;
    case RAISE_FORK:
        text_addf(to, "%s starts after it", writer);
        break;
    case RAISE_JOIN:
        text_addf(to, "%s waits for the partitions to exit", writer);
        break;
    }
    text_addf(to, ", IR line %u", line);
    for (uint32_t i = 0; i < way->through_count; i++)
        text_addf(to, "%s%s", i ? " and " : ", through ", partition_name(tables, way->through[i]));
}

static const char *ways_text(const CoverageReportTables *tables, const CoverageRow *row) {
    Text text = {0};
    for (uint32_t i = 0; i < row->way_count; i++) {
        text_addf(&text, "%s", i ? "; " : "");
        if (row->ways[i].kind == WAY_RAISE)
            add_raise(tables, row, &row->ways[i], &text);
        else
            text_addf(&text, row->ways[i].kind == WAY_PROGRAM ? "program order" : "order of issue on the tensor core");
    }
    return verdict_keep(tables->verdict, &text);
}

static const char *wanting_text(const CoverageReportTables *tables, const CoverageRow *row) {
    return verdict_text(tables->verdict, "no wait of %s before IR line %u follows %s's read at IR line %u",
                        partition_name(tables, row->write->agent), op_line(tables->builder->module, row->write_op),
                        partition_name(tables, row->read->agent), op_line(tables->builder->module, row->read_op));
}

/* Why a write that covers a buffer never came after a read of it: another agent's did. */
static const char *unseen_text(const CoverageReportTables *tables, const CoverageRow *row) {
    const Coverage *coverage = tables->coverage;
    for (uint32_t i = 0; i < coverage->row_count; i++) {
        const CoverageRow *other = coverage->rows[i];
        if (other->times && other->read_op == row->read_op && other->reader == row->reader &&
            other->read->area->buffer == row->read->area->buffer)
            return verdict_text(tables->verdict, "whenever it was read, IR line %u overwrote it first",
                                op_line(tables->builder->module, other->write_op));
    }
    return "not overwritten after it was read, in the runs that were made";
}

/* ---- Order of the text ---------------------------------------------------------------------------- */

static int compare_buffers(const CoverageBuffer *a, const CoverageBuffer *b) {
    COMPARE(a->box.begin, b->box.begin);
    COMPARE(a->box.end, b->box.end);
    COMPARE(a->backing->op->offset, b->backing->op->offset);
    COMPARE(a->box.first_row, b->box.first_row);
    COMPARE(a->box.end_row, b->box.end_row);
    COMPARE(a->size, b->size);
    COMPARE(a->alias, b->alias);
    return 0;
}

/* Rows of one line of a table are equal in all but what reads, and how it went. */
static int compare_lines(const CoverageRow *a, const CoverageRow *b) {
    COMPARE(a->write_op->offset, b->write_op->offset);
    int order = compare_buffers(a->write->area->buffer, b->write->area->buffer);
    if (order)
        return order;
    COMPARE(a->writer, b->writer);
    order = compare_buffers(a->read->area->buffer, b->read->area->buffer);
    if (order)
        return order;
    COMPARE(a->reader, b->reader);
    return 0;
}

static bool same_table(const CoverageRow *a, const CoverageRow *b) {
    return a->write_op == b->write_op && a->write->area->buffer == b->write->area->buffer && a->writer == b->writer;
}

static int compare_rows(const void *a, const void *b) {
    const CoverageRow *x = *(const CoverageRow *const *)a, *y = *(const CoverageRow *const *)b;
    int order = compare_lines(x, y);
    if (order)
        return order;
    COMPARE(x->missing == 0, y->missing == 0);
    COMPARE(x->times == 0, y->times == 0);
    COMPARE(x->read_op->offset, y->read_op->offset);
    COMPARE(x->read->index, y->read->index);
    return 0;
}

/* Aliased siblings that a write covers, and that are read, belong into its table even if it never came to that. */
static void add_unseen(Coverage *coverage) {
    const char *stopped = coverage->stopped;
    bool room = true;
    for (const CoverageTouch *write = coverage->listed; write && room; write = write->next)
        for (uint32_t i = 0; touch_writes(write) && i < write->area->overlap_count && room; i++) {
            const CoverageOverlap *overlap = &write->area->overlaps[i];
            bool sibling = overlap->covered && overlap->area->buffer != write->area->buffer;
            for (const CoverageTouch *read = sibling ? overlap->area->touches : NULL; read && room;
                 read = read->next_of_area)
                room = touch_writes(read) || coverage_row(coverage, write, read);
        }
    coverage->stopped = stopped;
}

/* ---- Tables --------------------------------------------------------------------------------------- */

/* How often an op touched a buffer, in all slots and runs. */
static uint64_t times_of(const CoverageReportTables *tables, const CoverageTouch *like) {
    uint64_t times = 0;
    for (const CoverageTouch *touch = tables->coverage->listed; touch; touch = touch->next)
        if (touch->area->buffer == like->area->buffer && touch->pc == like->pc)
            times += touch->times;
    return times;
}

/* One line, of the rows [0, count) that differ in what reads. */
static ReportRow make_line(const CoverageReportTables *tables, CoverageRow *const *rows, uint32_t count) {
    const CoverageRow *row = rows[0];
    const CoverageBuffer *written = row->write->area->buffer;
    CoverageBox box = row->box;
    uint64_t times = 0;
    Text more = {0};
    for (uint32_t i = 0; i < count; i++) {
        times += rows[i]->times;
        box.begin = rows[i]->box.begin < box.begin ? rows[i]->box.begin : box.begin;
        box.end = rows[i]->box.end > box.end ? rows[i]->box.end : box.end;
        if (i && i <= MOST_MORE_READS)
            text_addf(&more, "%s%u", i > 1 ? ", " : "also read at IR line ",
                      op_line(tables->builder->module, rows[i]->read_op));
        if (i == MOST_MORE_READS + 1)
            text_addf(&more, " and others");
    }
    ReportRow line = {
        .extent = extent_text(tables, written, box, &written->box),
        .name = buffer_name(tables, row->read->area->buffer),
        .consumer = partition_name(tables, row->read->agent),
        .read = place_of(tables, row->read, times_of(tables, row->read)),
        .cadence = builder_cadence(tables->builder, row->read_op),
        .order = row->missing ? COVERAGE_MISSING
                 : row->times ? COVERAGE_ORDERED
                              : COVERAGE_UNSEEN,
        .by = row->missing ? wanting_text(tables, row)
              : row->times ? ways_text(tables, row)
                           : unseen_text(tables, row),
        .times = times,
    };
    line.read.detail = verdict_keep(tables->verdict, &more);
    return line;
}

static ReportCoverage make_table(const CoverageReportTables *tables, CoverageRow *const *rows, uint32_t count) {
    const CoverageRow *row = rows[0];
    const CoverageBuffer *written = row->write->area->buffer;
    const CoverageReportShare *share = share_of(tables, written);
    ReportRow *lines = ARENA_ARRAY(tables->builder->arena, ReportRow, count);
    size_t line_count = 0;
    for (uint32_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && !compare_lines(rows[i], rows[next]);)
            next++;
        lines[line_count++] = make_line(tables, rows + i, next - i);
    }
    ReportPlace writer = place_of(tables, row->write, times_of(tables, row->write));
    if (buffer_is_part(written))
        writer.detail = verdict_text(tables->verdict, "writes %s", buffer_name(tables, row->write->area->buffer));
    return (ReportCoverage){
        .storage = storage_text(tables, written),
        .owner = name_of(tables->builder->names, share->owner->op),
        .writer = writer,
        .extent = extent_text(tables, written, written->box, &written->backing->box),
        .whole =
            written->whole && written->backing->box.begin <= share->begin && written->backing->box.end >= share->end,
        .rows = lines,
        .row_count = line_count,
    };
}

static void make_tables(const CoverageReportTables *tables) {
    const Coverage *coverage = tables->coverage;
    ReportCoverage *made = ARENA_ARRAY(tables->builder->arena, ReportCoverage, coverage->row_count + 1);
    size_t count = 0;
    for (uint32_t i = 0, next; i < coverage->row_count; i = next) {
        for (next = i + 1; next < coverage->row_count && same_table(coverage->rows[i], coverage->rows[next]);)
            next++;
        made[count++] = make_table(tables, coverage->rows + i, next - i);
    }
    tables->builder->report->coverage = made;
    tables->builder->report->coverage_count = count;
}

/* ---- Findings ------------------------------------------------------------------------------------- */

static bool has_line(const Finding *finding, uint32_t line) {
    for (size_t i = 0; i < finding->place_count; i++)
        if (finding->places[i].ir_line == line)
            return true;
    return false;
}

/* The race that was found between the write and, unless it is 0, an op of the line; it may be a missing back edge by
 * now. NULL if none was. */
static Finding *race_of(const CoverageReportTables *tables, const CoverageRow *row, uint32_t line) {
    uint32_t write = op_line(tables->builder->module, row->write_op);
    for (size_t i = 0; i < tables->verdict->finding_count; i++) {
        Finding *finding = &tables->verdict->findings[i];
        bool race = (finding->rule >= RULE_RACE_RAW && finding->rule <= RULE_RACE_INFLIGHT) ||
                    finding->rule == RULE_COVERAGE_MISSING_BACK_EDGE;
        if (race && has_line(finding, write) && (!line || has_line(finding, line)))
            return finding;
    }
    return NULL;
}

/* Whether what is read is packed into what is overwritten, and a thing of its own: others store into that part, and who
 * overwrites it all does not go on from what is there, as an accumulator does that is scaled in parts. */
static bool is_packed(const CoverageReportTables *tables, const CoverageRow *row) {
    const CoverageBuffer *written = row->write->area->buffer, *read = row->read->area->buffer;
    bool stored = false;
    if (written == read || !buffer_is_part(read))
        return false;
    for (const CoverageTouch *touch = tables->coverage->listed; touch; touch = touch->next) {
        bool writes = touch->effect->effect.verb == EFFECT_WRITE, same = touch->pc == row->write->pc;
        if (same && !writes && touch->area->buffer == written)
            return false;
        stored |= writes && !same && touch->agent != row->write->agent && touch->area->buffer == read;
    }
    return stored;
}

/* Whether the two are different things that one memory is used for. */
static bool is_aliased(const CoverageReportTables *tables, const CoverageRow *row) {
    const CoverageBuffer *written = row->write->area->buffer, *read = row->read->area->buffer;
    return written->backing->op != read->backing->op || written->reuse != read->reuse || is_packed(tables, row);
}

static unsigned loop_depth(const Op *op) {
    unsigned depth = 0;
    for (const Op *loop = enclosing_loop(op); loop; loop = enclosing_loop(loop))
        depth++;
    return depth;
}

/* Before what the writer has to wait: where the reader comes round less often, before the writer's inner loop. */
static const char *before_text(const CoverageReportTables *tables, const CoverageRow *row) {
    const Op *write = row->write_op, *loop = enclosing_loop(write);
    if (loop && loop_depth(row->read_op) < loop_depth(write))
        return verdict_text(tables->verdict, "before the loop at IR line %u, with the phase of the enclosing loop,",
                            op_line(tables->builder->module, loop));
    return verdict_text(tables->verdict, "before IR line %u,", op_line(tables->builder->module, write));
}

static void explain(const CoverageReportTables *tables, const CoverageRow *row, Finding *finding) {
    Verdict *verdict = tables->verdict;
    const Effect *read = &row->read->effect->effect;
    bool tensor = helper_of(tables, row->read) == HELPER_TENSOR, group = read->done == DONE_GROUP;
    bool own = row->read->agent == row->write->agent;
    const char *writer = partition_name(tables, row->write->agent), *reader = partition_name(tables, row->read->agent);
    const CoverageBuffer *written = row->write->area->buffer;
    CoverageBuffer *buffer = row->read->area->buffer;
    uint32_t read_line = op_line(tables->builder->module, row->read_op);
    finding->message = verdict_text(verdict, "%s overwrites %s (%s of %s) while %s may still read it, at IR line %u",
                                    actor_name(tables, row->write), buffer_name(tables, buffer),
                                    extent_text(tables, written, row->box, &written->box),
                                    storage_name(tables, written), actor_name(tables, row->read), read_line);
    finding->why = verdict_text(
        verdict,
        "In %llu of %llu overwrites %s%s. Nothing that %s has waited for by then is ordered after that read%s.",
        (unsigned long long)row->missing, (unsigned long long)row->times, wanting_text(tables, row),
        is_aliased(tables, row) ? ": the two are different names of the same memory" : "", writer,
        tensor  ? ", which only a commit signals"
        : group ? ", which only a wait for its group shows"
                : "");
    if (group && own)
        finding->fix = verdict_text(verdict, "Wait for the %s %s leaving few enough of them pending.",
                                    group_name(read->group), before_text(tables, row));
    else
        finding->fix = verdict_text(verdict, "Make %s wait, %s for a barrier that %s arrives on after IR line %u%s.",
                                    writer, before_text(tables, row), reader, read_line,
                                    tensor  ? ", with a commit"
                                    : group ? " and a wait for its group"
                                            : "");
}

/* Of one write and one reader; further reads become further places. */
static void add_finding(CoverageReportTables *tables, CoverageRow *const *rows, uint32_t count) {
    const CoverageRow *row = rows[0];
    Verdict *verdict = tables->verdict;
    Finding *finding = verdict_finding(verdict);
    finding->rule = RULE_COVERAGE_MISSING_BACK_EDGE;
    finding->space = row->write->area->buffer->backing->allocation->space == SPACE_TENSOR ? "tensor" : "shared";
    explain(tables, row, finding);
    finding->launch = launch_text(row->rerun.launch, verdict->arena);
    finding->schedule = "in every schedule";
    finding->witness = "";
    FindingPlace *places = finding_places(verdict, finding, 1 + count);
    place_set(tables->coverage->machine, &places[0], "writes", actor_name(tables, row->write), row->write->pc, verdict);
    for (uint32_t i = 0; i < count; i++) {
        const CoverageTouch *read = rows[i]->read;
        place_set(tables->coverage->machine, &places[1 + i], "reads", actor_name(tables, read), read->pc, verdict);
        places[1 + i].note = buffer_name(tables, read->area->buffer);
        finding->times += rows[i]->missing;
    }
    tables->missing[tables->missing_count++] = (MissingEdge){verdict->finding_count - 1, row->rerun};
}

/* Whether a race says what is missing in a line: one between the write and any read of it, since what orders that
 * orders all. Where the two are different names of one memory, no barrier of either could have told: then that race is
 * the missing back edge. Under one name, any race of the write says enough. */
static bool is_said(CoverageReportTables *tables, CoverageRow *const *rows, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        const CoverageRow *row = rows[i];
        bool aliased = is_aliased(tables, row);
        Finding *race =
            row->missing ? race_of(tables, row, aliased ? op_line(tables->builder->module, row->read_op) : 0) : NULL;
        if (!race)
            continue;
        if (aliased && race->rule != RULE_COVERAGE_MISSING_BACK_EDGE) {
            race->rule = RULE_COVERAGE_MISSING_BACK_EDGE;
            explain(tables, row, race);
        }
        return true;
    }
    return false;
}

static void add_findings(CoverageReportTables *tables) {
    const Coverage *coverage = tables->coverage;
    tables->missing = ARENA_ARRAY(tables->builder->arena, MissingEdge, MOST_EDGES);
    CoverageRow **open = ARENA_ARRAY(coverage->arena, CoverageRow *, coverage->row_count + 1);
    uint32_t count = 0;
    for (uint32_t i = 0, next; i < coverage->row_count; i = next) {
        for (next = i; next < coverage->row_count && !compare_lines(coverage->rows[i], coverage->rows[next]);)
            next++;
        bool said = is_said(tables, coverage->rows + i, next - i);
        for (uint32_t k = i; k < next && !said; k++)
            if (coverage->rows[k]->missing)
                open[count++] = coverage->rows[k];
    }
    if (coverage->machine->program->unknowns) /* races have reported what is certain beside ops that are not known */
        return;
    for (uint32_t i = 0, kept; i < count && tables->missing_count < MOST_EDGES; i++) {
        /* The same write and the same reader lack one edge. */
        CoverageRow *together[1 + MOST_MORE_READS] = {open[i]};
        if (!open[i])
            continue;
        kept = 1;
        for (uint32_t k = i + 1; k < count; k++)
            if (open[k] && open[k]->write_op == open[i]->write_op && open[k]->read->agent == open[i]->read->agent) {
                if (kept <= MOST_MORE_READS)
                    together[kept++] = open[k];
                open[k] = NULL;
            }
        add_finding(tables, together, kept);
    }
}

/* ---- All of it ------------------------------------------------------------------------------------ */

static const char *note_text(const CoverageReportTables *tables) {
    const Coverage *coverage = tables->coverage;
    Text text = {0};
    text_addf(&text, "Decided by happens-before over %llu run%s of %llu launch%s.", (unsigned long long)coverage->runs,
              plural((int64_t)coverage->runs), (unsigned long long)coverage->launches,
              coverage->launches == 1 ? "" : "es");
    if (coverage->stopped)
        text_addf(&text, " Not all of it was checked: %s.", coverage->stopped);
    if (coverage->unknown)
        text_addf(&text, " The access at IR line %u is not in it: %s.",
                  op_line(tables->builder->module, coverage->unknown_op), coverage->unknown);
    if (coverage->machine->program->unknowns)
        text_addf(&text, " Ops with unknown effects may provide what is missing here.");
    if (!coverage->row_count)
        text_addf(&text, " Nothing that was read was overwritten.");
    return verdict_keep(tables->verdict, &text);
}

const MissingEdge *coverage_report(Coverage *coverage, Builder *builder, size_t *missing) {
    CoverageReportTables tables = {.coverage = coverage, .builder = builder, .verdict = builder->verdict};
    Report *report = builder->report;
    *missing = 0;
    if (coverage && coverage->machine->program->planned) {
        report->coverage_note =
            report->coverage_count
                ? "Its tasks are planned and not split into partitions yet: each row is a back edge that will be "
                  "needed."
                : "Its tasks are planned and not split into partitions yet, and the plan shares no memory.";
        return NULL;
    }
    if (!coverage || !coverage->runs) {
        report->coverage_note = coverage && coverage->stopped
                                    ? verdict_text(builder->verdict, "There are no tables: %s.", coverage->stopped)
                                    : "Nothing was run, so nothing is known about what is overwritten.";
        return NULL;
    }
    add_unseen(coverage);
    find_shares(&tables);
    qsort(coverage->rows, coverage->row_count, sizeof *coverage->rows, compare_rows);
    make_tables(&tables);
    add_findings(&tables);
    report->coverage_note = note_text(&tables);
    *missing = tables.missing_count;
    return tables.missing;
}
