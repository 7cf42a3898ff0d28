/* Reads and overwrites of a run, and whether the clocks order them. */
#include "check/report/coverage/coverage_internal.h"

/* ---- Life ----------------------------------------------------------------------------------------- */

/* Which allocations hold barriers, and whether any are tokens: an agent that leaves one says more than clocks know. */
static void find_barriers(Coverage *coverage) {
    const Program *program = coverage->machine->program;
    coverage->late = true;
    for (uint32_t i = 0; i < program->effect_count; i++) {
        const Effect *effect = &program->effects[i].effect;
        coverage->late &= effect->side == SIDE_NONE;
        if (effect->verb != EFFECT_INIT)
            continue;
        const Allocation *allocation = allocation_of(&program->allocations, coverage->module, effect->on);
        if (allocation)
            coverage->barriers[allocation - program->allocations.items] = true;
    }
}

Coverage *coverage_create(Arena *arena, Machine *machine, Watch *watch) {
    const Program *program = machine->program;
    Coverage *coverage = ARENA_NEW(arena, Coverage);
    coverage->watch = watch;
    coverage->arena = arena;
    coverage->machine = machine;
    coverage->module = program->module;
    coverage->clocks = program->planned ? NULL : clocks_create(arena, machine, &coverage->stopped);
    coverage->origins = ARENA_ARRAY(arena, Provenance, program->effect_count + 1);
    coverage->barriers = ARENA_ARRAY(arena, bool, program->allocations.count + 1);
    coverage->memories =
        ARENA_ARRAY(arena, CoverageArea *, (size_t)program->ctas * program->allocations.storage_count + 1);
    coverage->rows = ARENA_ARRAY(arena, CoverageRow *, MOST_ROWS);
    find_barriers(coverage);
    return coverage;
}

static void forget_reads(Coverage *coverage, CoverageRead **reads) {
    while (*reads) {
        CoverageRead *read = *reads;
        *reads = read->next;
        read->next = coverage->free_reads;
        coverage->free_reads = read;
    }
}

void coverage_start(Coverage *coverage, const Rerun *rerun) {
    const Program *program = coverage->machine->program;
    coverage->watching = coverage->clocks && !coverage->stopped && schedule_is_immediate(&rerun->schedule);
    if (!coverage->watching)
        return;
    coverage->launches += !coverage->runs || rerun->launch != coverage->rerun.launch;
    coverage->runs++;
    coverage->rerun = *rerun;
    clocks_start(coverage->clocks);
    for (size_t i = 0; i < (size_t)program->ctas * program->allocations.storage_count; i++)
        for (CoverageArea *area = coverage->memories[i]; area; area = area->next) {
            forget_reads(coverage, &area->reads);
            forget_reads(coverage, &area->overwritten);
            area->last.touch = area->before.touch = area->over.touch = NULL;
        }
}

/* ---- Rows ----------------------------------------------------------------------------------------- */

/* The same two ops on the same two buffers, in any slot and any CTA. */
static bool is_row_of(const CoverageRow *row, const CoverageRow *other) {
    return row->write_op == other->write_op && row->read_op == other->read_op && row->writer == other->writer &&
           row->reader == other->reader && row->write->area->buffer == other->write->area->buffer &&
           row->read->area->buffer == other->read->area->buffer;
}

static CoverageRow *make_row(Coverage *coverage, const CoverageTouch *write, const CoverageTouch *read) {
    const Program *program = coverage->machine->program;
    CoverageRow new = {.write = write,
                       .read = read,
                       .write_op = program->ops[write->pc],
                       .read_op = program->ops[read->pc],
                       .writer = write->agent % program->agents_per_cta,
                       .reader = read->agent % program->agents_per_cta};
    for (uint32_t i = 0; i < coverage->row_count; i++)
        if (is_row_of(coverage->rows[i], &new))
            return coverage->rows[i];
    if (coverage->row_count == MOST_ROWS) {
        coverage->stopped = "there are more pairs of a read and an overwrite than are kept";
        return NULL;
    }
    new.box = box_overlap(write->area, read->area, coverage->arena);
    new.box.begin -= write->area->slot;
    new.box.end -= write->area->slot;
    CoverageRow *row = ARENA_NEW(coverage->arena, CoverageRow);
    *row = new;
    coverage->rows[coverage->row_count++] = row;
    return row;
}

TABLE(pairs, CoveragePairs, CoveragePair, CoveragePair, 1 << 8, item->write, *item,
      ((uint64_t)key.write->index << 32 | key.read->index) * 0x9e3779b97f4a7c15u >> 40,
      item->write == key.write && item->read == key.read)

static CoveragePair *pair_of(Coverage *coverage, const CoverageTouch *write, const CoverageTouch *read) {
    CoveragePair key = {.write = write, .read = read}, *pair = pairs_put(coverage->arena, &coverage->pairs, key);
    pair->write = write;
    pair->read = read;
    return pair;
}

CoverageRow *coverage_row(Coverage *coverage, const CoverageTouch *write, const CoverageTouch *read) {
    CoveragePair *pair = pair_of(coverage, write, read);
    if (pair->row)
        return pair->row;
    if (coverage->row_pair_count == MOST_PAIRS) {
        coverage->stopped = "there are more pairs of a read and an overwrite than are kept";
        return NULL;
    }
    pair->row = make_row(coverage, write, read);
    coverage->row_pair_count += pair->row != NULL;
    return pair->row;
}

/* A time that nothing ordered the two; no row (NULL): there are too many. */
static void add_missing(const Coverage *coverage, CoverageRow *row) {
    if (!row)
        return;
    row->times++;
    if (!row->missing++)
        row->rerun = coverage->rerun;
}

/* ---- Ways ----------------------------------------------------------------------------------------- */

/* By whom the news came to the writer: agents that are neither the reader nor the writer, the nearest first. */
static void find_through(const Coverage *coverage, Way *way, uint32_t writer, uint32_t reader, Epoch stamp) {
    uint32_t at = way->raise.via;
    while (at != reader && at != writer && at < coverage->machine->agent_count && way->through_count < MOST_THROUGH) {
        for (uint32_t i = 0; i < way->through_count; i++)
            if (way->through[i] == at)
                return;
        way->through[way->through_count++] = (uint16_t)at;
        const Raise *raise = clocks_raise(coverage->clocks, at, stamp);
        if (!raise)
            return;
        at = raise->via;
    }
}

static void add_way(const Coverage *coverage, CoverageRow *row, const Event *event, const CoverageTouch *reader,
                    Epoch stamp) {
    const Raise *raise = clocks_raise(coverage->clocks, event->agent, stamp);
    bool known = clocks_know(coverage->clocks, event->agent, stamp);
    Way way = {.kind = !known ? WAY_TENSOR : raise ? WAY_RAISE : WAY_PROGRAM};
    if (way.kind == WAY_RAISE)
        way.raise = *raise;
    for (uint32_t i = 0; i < row->way_count; i++) {
        Way *other = &row->ways[i];
        if (other->kind != way.kind || (way.kind == WAY_RAISE && other->raise.pc != way.raise.pc))
            continue;
        other->slots_differ |= way.kind == WAY_RAISE && other->raise.barrier != way.raise.barrier;
        return;
    }
    if (row->way_count == MOST_WAYS)
        return;
    if (way.kind == WAY_RAISE && (way.raise.kind == RAISE_WAIT || way.raise.kind == RAISE_NAMED))
        find_through(coverage, &way, event->agent, reader->agent, stamp);
    row->ways[row->way_count++] = way;
}

static uint64_t moment_of(const Coverage *coverage) {
    return coverage->watch ? watch_moment(coverage->watch) : 0;
}

/* Of a part, the view that makes it one; else what is allocated. */
static const Op *buffer_op(const CoverageBuffer *buffer) {
    return buffer_is_part(buffer) ? buffer->views[0] : buffer->backing->allocation->op;
}

/* Whether two accesses are in order as they were issued, whatever was waited for: both by the agent's tensor core. */
static bool is_issue_order(const Event *event, const CoverageTouch *earlier) {
    return earlier->agent == event->agent && earlier->effect->effect.helper == HELPER_TENSOR &&
           event->effect->effect.helper == HELPER_TENSOR;
}

/* The wait by which the access comes after an earlier one protects the buffer. */
static void report_protected(Coverage *coverage, const Event *event, const CoverageTouch *earlier, Epoch stamp,
                             uint64_t since, bool backward) {
    const Raise *raise = coverage->watch ? clocks_raise(coverage->clocks, event->agent, stamp) : NULL;
    if (!raise || (raise->kind != RAISE_WAIT && raise->kind != RAISE_NAMED) || is_issue_order(event, earlier))
        return;
    watch_protects(coverage->watch, raise->barrier, raise->kind == RAISE_NAMED,
                   (Protection){.buffer = buffer_op(earlier->area->buffer),
                                .from = earlier->agent,
                                .to = event->agent,
                                .wait = coverage->machine->program->ops[raise->pc],
                                .backward = backward},
                   since, earlier->effect->effect.helper != HELPER_BASE);
}

/* Notes what is used under another name than it was written under. */
static void note_flow(Coverage *coverage, const CoverageTouch *write, const CoverageTouch *read) {
    if (write->area->buffer == read->area->buffer || coverage->flow_count == MOST_FLOWS)
        return;
    CoveragePair *pair = pair_of(coverage, write, read);
    coverage->flow_count += !pair->flows;
    pair->flows = true;
}

/* What is used here was written before: by whom, and what says that it is there? */
static void report_used(Coverage *coverage, const Event *event, const CoverageTouch *touch) {
    const Write *latest = &touch->area->last; /* of all of it: nothing is left of what was written before */
    for (uint32_t i = 0; i < touch->area->overlap_count; i++) {
        const Write *write = &touch->area->overlaps[i].area->last;
        bool hidden = latest->touch && write->time < latest->time;
        if (!write->touch || hidden)
            continue;
        note_flow(coverage, write->touch, touch);
        if (clocks_follow(coverage->clocks, event, write->stamp))
            report_protected(coverage, event, write->touch, write->stamp, write->moment, false);
    }
}

/* ---- Events --------------------------------------------------------------------------------------- */

/* Reads that another write has overwritten before are over for an agent that comes after that write; for others they
 * are not. */
static void check_overwritten(Coverage *coverage, const Event *event, CoverageTouch *touch, CoverageArea *area) {
    if (!area->over.touch || clocks_follow(coverage->clocks, event, area->over.stamp)) {
        forget_reads(coverage, &area->overwritten);
        return;
    }
    for (const CoverageRead *read = area->overwritten; read; read = read->next)
        if (!clocks_follow(coverage->clocks, event, read->stamp))
            add_missing(coverage, coverage_row(coverage, touch, read->touch));
}

/* What is overwritten here must have been read. */
static void check_write(Coverage *coverage, const Event *event, CoverageTouch *touch) {
    Write now = {.touch = touch,
                 .stamp = clocks_epoch(coverage->clocks, event),
                 .moment = moment_of(coverage),
                 .time = coverage->time};
    for (uint32_t i = 0; i < touch->area->overlap_count; i++) {
        CoverageArea *area = touch->area->overlaps[i].area;
        check_overwritten(coverage, event, touch, area);
        for (const CoverageRead *read = area->reads; read; read = read->next) {
            CoverageRow *row = coverage_row(coverage, touch, read->touch);
            if (!row)
                return;
            if (clocks_follow(coverage->clocks, event, read->stamp)) {
                row->times++;
                add_way(coverage, row, event, read->touch, read->stamp);
                report_protected(coverage, event, read->touch, read->stamp, read->moment, true);
            } else {
                add_missing(coverage, row);
            }
        }
        if (!touch->area->overlaps[i].covered)
            continue;
        if (area->reads) {
            forget_reads(coverage, &area->overwritten);
            area->overwritten = area->reads;
            area->over = now;
            area->reads = NULL;
        }
        if (area != touch->area)
            area->last.touch = area->before.touch = NULL;
    }
    CoverageArea *area = touch->area;
    if (!area->before.touch || area->last.read)
        area->before = area->last;
    area->last = now;
}

/* The agent that overwrites may have been faster than the reader: then what is read is ordered after what was there
 * before, which this agent has not read yet, but not after what is there now. */
static void check_late(Coverage *coverage, const Event *event, CoverageTouch *touch) {
    CoverageArea *latest = NULL;
    for (uint32_t i = 0; i < touch->area->overlap_count; i++) {
        CoverageArea *area = touch->area->overlaps[i].area;
        if (area->last.touch && (!latest || area->last.time > latest->last.time))
            latest = area;
        area->last.read = true;
        agents_add(&area->last.readers, event->agent);
    }
    if (!latest || !latest->before.touch || latest->last.touch->agent == event->agent ||
        agents_have(&latest->before.readers, event->agent) ||
        clocks_follow(coverage->clocks, event, latest->last.stamp) ||
        !clocks_follow(coverage->clocks, event, latest->before.stamp))
        return;
    add_missing(coverage, coverage_row(coverage, latest->last.touch, touch));
}

static CoverageRead *new_read(Coverage *coverage) {
    CoverageRead *read = coverage->free_reads;
    if (read) {
        coverage->free_reads = read->next;
        return read;
    }
    if (coverage->read_count == MOST_READS) {
        coverage->stopped = "there are more pending reads than are kept";
        return NULL;
    }
    coverage->read_count++;
    return ARENA_NEW(coverage->arena, CoverageRead);
}

/* Of an op's reads the latest is enough: once it is over, so are those before. */
static void keep_read(Coverage *coverage, const Event *event, CoverageTouch *touch) {
    Epoch stamp = clocks_epoch(coverage->clocks, event);
    CoverageArea *area = touch->area;
    for (CoverageRead *read = area->reads; read; read = read->next)
        if (read->touch == touch && read->stamp.component == stamp.component) {
            read->stamp = stamp;
            read->moment = moment_of(coverage);
            return;
        }
    CoverageRead *read = new_read(coverage);
    if (!read)
        return;
    *read = (CoverageRead){area->reads, touch, stamp, moment_of(coverage)};
    area->reads = read;
}

void coverage_observe(void *observer, const Event *event) {
    Coverage *coverage = observer;
    if (!coverage->watching || coverage->stopped)
        return;
    clocks_observe(coverage->clocks, event);
    if (clocks_overflowed(coverage->clocks)) {
        coverage->stopped = "a run is longer than clocks can count";
        return;
    }
    if (event->kind != EVENT_ACCESS ||
        (event->effect->effect.space != SPACE_SHARED && event->effect->effect.space != SPACE_TENSOR))
        return;
    CoverageTouch *touch = coverage_touch(coverage, event);
    if (!touch)
        return;
    coverage->time++;
    touch->times++;
    if (event->effect->effect.verb != EFFECT_WRITE)
        report_used(coverage, event, touch);
    if (event->effect->effect.verb != EFFECT_READ) {
        check_write(coverage, event, touch);
        return;
    }
    if (coverage->late)
        check_late(coverage, event, touch);
    keep_read(coverage, event, touch);
}
