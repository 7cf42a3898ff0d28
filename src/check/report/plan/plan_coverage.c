/* Buffers that are the same memory: what they have to say of each other, and, for each write over that memory, which
 * reads have to be over before it. */
#include "check/explain/place.h"
#include "check/report/plan/plan_order.h"

/* What is looked at: buffers of one storage, writes and reads of one buffer, its rows in a table, tables. */
enum { MOST_MEMBERS = 64, MOST_WRITES = 64, MOST_READS = 1024, MOST_ROWS = 32, MOST_TABLES = 1024 };

typedef struct PlanCoverageTables {
    ReportCoverage *items;
    uint32_t count, capacity;
    bool cut; /* some were left out */
} PlanCoverageTables;

bool plan_overlap(const Plan *plan, uint32_t a, uint32_t b) {
    const PlanBuffer *x = &plan->buffers[a], *y = &plan->buffers[b];
    if (x->storage == NO_INDEX || x->storage != y->storage || x->space != y->space)
        return false;
    /* Shared memory of an id is only realized as one ring where the types are the same. */
    if (x->space == SPACE_SHARED && x->id >= 0 && x->id == y->id && x->type != y->type)
        return false;
    return x->begin < y->end && y->begin < x->end;
}

/* "columns 0-63", "bytes 0-16383" of what the two have in common. */
static const char *extent_text(Plan *plan, const PlanBuffer *x, const PlanBuffer *y) {
    int64_t begin = x->begin > y->begin ? x->begin : y->begin, end = x->end < y->end ? x->end : y->end;
    return begin < end ? builder_extent(plan->builder, x->space, begin, end) : "";
}

static uint32_t text_line(const Plan *plan, uint32_t order) {
    return source_place(plan->module->source, order).line;
}

/* ---- Notes -------------------------------------------------------------------------------------- */

static void note(Plan *plan, const PlanBuffer *buffer, const char *text) {
    builder_note(plan->builder, &plan->builder->buffers[buffer->report], text);
}

/* Where in the text a buffer holds something that is still to be read; false if nowhere. */
static bool live_range(const Plan *plan, const PlanBuffer *buffer, uint32_t *begin, uint32_t *end) {
    *begin = NO_INDEX;
    *end = 0;
    for (uint32_t i = buffer->first; i < buffer->first + buffer->count; i++) {
        const PlanAccess *access = &plan->accesses[i];
        if (access->writes && access->order < *begin)
            *begin = access->order;
        if (access->reads && access->order > *end)
            *end = access->order;
    }
    for (uint32_t i = 0; i < buffer->channels; i++) {
        const PlanChannel *channel = &plan->channels[buffer->channel + i];
        if (!channel->around || channel->loop == NO_INDEX)
            continue;
        const PlanLoop *loop = &plan->loops[channel->loop];
        *begin = loop->begin < *begin ? loop->begin : *begin;
        *end = loop->end > *end ? loop->end : *end;
    }
    return *begin < *end;
}

static void note_pair(Plan *plan, uint32_t a, uint32_t b) {
    const PlanBuffer *x = &plan->buffers[a], *y = &plan->buffers[b];
    Verdict *verdict = plan->builder->verdict;
    bool ring = x->ring == y->ring && plan->buffers[x->ring].turns > 1 && x->position != y->position;
    if (ring) {
        note(plan, x, verdict_text(verdict, "shares one ring with %s (%lld slots)", y->name, (long long)x->depth));
        note(plan, y, verdict_text(verdict, "shares one ring with %s (%lld slots)", x->name, (long long)x->depth));
        return;
    }
    const char *extent = extent_text(plan, x, y);
    note(plan, x, verdict_text(verdict, "shares its memory with %s (%s)", y->name, extent));
    note(plan, y, verdict_text(verdict, "shares its memory with %s (%s)", x->name, extent));
    uint32_t begin, end, other, other_end;
    if (!live_range(plan, x, &begin, &end) || !live_range(plan, y, &other, &other_end) || begin >= other_end ||
        other >= end)
        return;
    const char *text = verdict_text(verdict, "%s and %s are the same memory (%s) and both live between lines %u and %u",
                                    x->name, y->name, extent, text_line(plan, begin > other ? begin : other),
                                    text_line(plan, end < other_end ? end : other_end));
    note(plan, x, text);
    note(plan, y, text);
}

static void note_merged(Plan *plan) {
    for (size_t i = 0; i < plan->buffer_count; i++) {
        const PlanBuffer *buffer = &plan->buffers[i], *first = &plan->buffers[buffer->merged];
        if (first == buffer || !first->channels || first->aref)
            continue;
        const PlanBarrier *full = &plan->barriers[plan->channels[first->channel].full];
        int64_t bytes = plan->builder->barriers[full->report].expect_bytes;
        Verdict *verdict = plan->builder->verdict;
        const char *sum = bytes >= 0 ? verdict_text(verdict, ", %lld bytes", (long long)bytes) : "";
        note(plan, buffer, verdict_text(verdict, "merged with %s: one barrier%s", first->name, sum));
        note(plan, first, verdict_text(verdict, "merged with %s: one barrier%s", buffer->name, sum));
    }
}

/* ---- Tables ------------------------------------------------------------------------------------- */

/* The barrier that says that a partition has read a buffer; NULL if none is planned. */
static const char *empty_of(const Plan *plan, const PlanBuffer *buffer, const PlanAccess *read) {
    const PlanChannel *found = NULL;
    for (uint32_t i = 0; i < buffer->channels; i++) {
        const PlanChannel *channel = &plan->channels[buffer->channel + i];
        if (read->mask >> channel->to & 1 && (!found || channel->to_loop == read->loop))
            found = channel;
    }
    return found ? plan->builder->barriers[plan->barriers[found->empty].report].name : NULL;
}

/* Where the wait has to stand: by how often the two come. */
static const char *place_text(Plan *plan, const PlanAccess *write, const PlanAccess *read) {
    uint32_t both = plan_common_loop(plan, write->loop, read->loop);
    uint32_t inner = plan_loop_below(plan, write->loop, both);
    if (inner == NO_INDEX)
        return "before the write";
    if (both == NO_INDEX)
        return verdict_text(plan->builder->verdict, "before the loop at line %u, once", plan->loops[inner].line);
    return verdict_text(plan->builder->verdict, "before the loop at line %u, with the phase of the loop at line %u",
                        plan->loops[inner].line, plan->loops[both].line);
}

static const char program_order[] = "program order";

/* "task 1 waits for empty (acc), before IR line 48"; where several do so at different times, all of them. */
static const char *waits_text(Plan *plan, const PlanDecision *decision) {
    Text text = {0};
    for (uint32_t i = 0; i < decision->wait_count; i++) {
        const PlanWait *wait = &decision->waits[i];
        text_addf(&text, "%s%s will wait for ", i ? "; " : "", plan_partitions(plan, wait->mask));
        if (wait->barrier == NO_INDEX)
            text_addf(&text, "%s, whose turn it was", plan_partitions(plan, wait->from));
        else
            text_addf(&text, "%s", plan->builder->barriers[plan->barriers[wait->barrier].report].name);
        text_addf(&text, ", before IR line %u", text_line(plan, wait->order));
    }
    return verdict_keep(plan->builder->verdict, &text);
}

/* What has to be added: "task 1 must wait for empty (m), before the loop at line 48, ...". */
static const char *needed_text(Plan *plan, const PlanBuffer *buffer, const PlanAccess *write, const PlanAccess *read) {
    Verdict *verdict = plan->builder->verdict;
    const char *writer = plan_partitions(plan, write->mask), *where = place_text(plan, write, read);
    if (!(read->mask & ~write->mask))
        return verdict_text(verdict, "%s must wait for its own %s at line %u, %s", writer,
                            read->mma ? "MMA" : "asynchronous read", text_line(plan, read->order), where);
    const char *empty = empty_of(plan, buffer, read);
    return empty ? verdict_text(verdict, "%s must wait for %s, %s", writer, empty, where)
                 : verdict_text(verdict, "%s must wait for a barrier of its own from %s, %s", writer,
                                plan_partitions(plan, read->mask), where);
}

static void set_order(Plan *plan, ReportRow *row, const PlanBuffer *buffer, const PlanAccess *write,
                      const PlanAccess *read) {
    PlanDecision decision =
        plan_order_decide(plan->order, (uint32_t)(write - plan->accesses), (uint32_t)(read - plan->accesses));
    row->order = COVERAGE_ORDERED;
    switch (decision.way) {
    case PLAN_OPEN:
        row->order = COVERAGE_PLANNED;
        row->by = needed_text(plan, buffer, write, read);
        break;
    case PLAN_NEVER:
        row->order = COVERAGE_UNSEEN;
        row->by = "it is not overwritten after that read";
        break;
    case PLAN_PROGRAM:
        row->by = program_order;
        break;
    case PLAN_ISSUE:
        row->by = "order of issue on the tensor core";
        break;
    case PLAN_WAIT:
        row->by = waits_text(plan, &decision);
        break;
    case PLAN_MISSING:
        row->order = COVERAGE_MISSING;
        row->by = verdict_text(plan->builder->verdict, "no channel of the plan does: %s",
                               needed_text(plan, buffer, write, read));
        break;
    }
}

/* ---- Findings ----------------------------------------------------------------------------------- */

/* What one write lacks from one reader. */
typedef struct PlanCoverageLack {
    const PlanBuffer *written, *first;
    const PlanAccess *write, *read; /* the first read */
    Text names, fixes;
    uint32_t lines[8], line_count;
    int64_t begin, end;
} PlanCoverageLack;

static void add_lack(Plan *plan, PlanCoverageLack *lack, const PlanBuffer *buffer, const PlanAccess *read) {
    bool first = !lack->first;
    lack->begin = first || buffer->begin < lack->begin ? buffer->begin : lack->begin;
    lack->end = first || buffer->end > lack->end ? buffer->end : lack->end;
    lack->first = first ? buffer : lack->first;
    lack->read = first ? read : lack->read;
    text_addf(&lack->names, "%s%s", first ? "" : ", ", buffer->name);
    text_addf(&lack->fixes, "%s%s", first ? "" : "; ", needed_text(plan, buffer, lack->write, read));
    if (lack->line_count < sizeof lack->lines / sizeof *lack->lines)
        lack->lines[lack->line_count++] = (uint32_t)(read - plan->accesses);
}

static void set_place(Plan *plan, FindingPlace *place, const char *role, const PlanAccess *access) {
    op_place_set(plan->module, access->op, place, plan->builder->verdict);
    place->role = role;
    place->agent = plan_partitions(plan, access->mask);
    place->note = plan->buffers[access->buffer].name;
}

static void report_lack(Plan *plan, PlanCoverageLack *lack) {
    Verdict *verdict = plan->builder->verdict;
    const PlanBuffer *written = lack->written;
    const char *writer = plan_partitions(plan, lack->write->mask), *reader = plan_partitions(plan, lack->read->mask);
    const char *names = verdict_keep(verdict, &lack->names), *fixes = verdict_keep(verdict, &lack->fixes);
    bool several = lack->line_count > 1;
    Finding *finding = verdict_finding(verdict);
    finding->rule = RULE_COVERAGE_MISSING_BACK_EDGE;
    finding->graded = true; /* the pass that inserts the barriers can still add it */
    finding->grade = SEVERITY_WARNING;
    finding->space = written->space == SPACE_TENSOR ? "tensor" : "shared";
    finding->message = verdict_text(
        verdict, "%s will overwrite %s (%s of %s) while %s may still read %s, at IR line %u", writer, names,
        builder_extent(plan->builder, written->space, lack->begin - written->begin, lack->end - written->begin),
        written->name, reader, several ? "them" : "it", text_line(plan, lack->read->order));
    finding->why = verdict_text(verdict,
                                "%s. Each buffer gets a full and an empty barrier of its own, and neither those of "
                                "this plan nor any chain of them makes %s wait for the read.",
                                lack->first == written ? "The plan gives nothing that says when the read is done"
                                                       : "They are the same memory under different names",
                                writer);
    finding->fix = verdict_text(verdict, "Add the back edge when the barriers are inserted: %s.", fixes);
    FindingPlace *places = finding_places(verdict, finding, 1 + lack->line_count);
    set_place(plan, &places[0], "writes", lack->write);
    for (uint32_t i = 0; i < lack->line_count; i++)
        set_place(plan, &places[1 + i], "reads", &plan->accesses[lack->lines[i]]);
}

enum { MOST_LACKS = 16 };

typedef struct PlanCoverageRows {
    ReportRow *items;
    uint32_t count, capacity;
    PlanCoverageLack lacks[MOST_LACKS]; /* by reader */
    uint32_t lack_count;
} PlanCoverageRows;

/* One reader is one back edge, or several that stand together. */
static void note_lack(Plan *plan, PlanCoverageRows *rows, const PlanBuffer *written, const PlanBuffer *buffer,
                      const PlanAccess *write, const PlanAccess *read) {
    uint32_t i = 0;
    while (i < rows->lack_count && rows->lacks[i].read->mask != read->mask)
        i++;
    if (i == MOST_LACKS)
        return;
    if (i == rows->lack_count)
        rows->lacks[rows->lack_count++] = (PlanCoverageLack){.written = written, .write = write};
    add_lack(plan, &rows->lacks[i], buffer, read);
}

static void add_row(Plan *plan, PlanCoverageRows *rows, const PlanBuffer *written, const PlanBuffer *buffer,
                    const PlanAccess *write, const PlanAccess *read) {
    ReportRow *row = ARENA_PUSH(plan->arena, rows->items, rows->count, rows->capacity);
    *row = (ReportRow){.extent = extent_text(plan, written, buffer),
                       .name = buffer->name,
                       .consumer = plan_partitions(plan, read->mask),
                       .read = builder_place(plan->builder, read->op),
                       .cadence = builder_cadence(plan->builder, read->op),
                       .by = ""};
    set_order(plan, row, buffer, write, read);
    if (row->order == COVERAGE_MISSING)
        note_lack(plan, rows, written, buffer, write, read);
}

/* One row for each consumer at each cadence, of its last read. */
static void add_rows(Plan *plan, PlanCoverageRows *rows, uint32_t written, uint32_t sibling, const PlanAccess *write) {
    const PlanBuffer *buffer = &plan->buffers[sibling];
    const PlanAccess *last[MOST_ROWS];
    size_t count = 0;
    uint32_t end = buffer->count < MOST_READS ? buffer->count : MOST_READS;
    for (uint32_t i = buffer->first; i < buffer->first + end; i++) {
        const PlanAccess *read = &plan->accesses[i];
        bool other = sibling != written || (read->mask & ~write->mask);
        if (!read->reads || !read->mask || read->listed_only || read->op == write->op || !other)
            continue;
        size_t at = 0;
        while (at < count && (last[at]->mask != read->mask || last[at]->loop != read->loop))
            at++;
        if (at < MOST_ROWS)
            last[at] = read;
        count += at == count && at < MOST_ROWS;
    }
    for (size_t i = 0; i < count; i++)
        add_row(plan, rows, &plan->buffers[written], buffer, write, last[i]);
}

static const char *storage_text(Plan *plan, const PlanBuffer *owner, int64_t size) {
    if (owner->value)
        return "an SSA value that needs memory";
    const char *name =
        owner->id >= 0 ? verdict_text(plan->builder->verdict, "buffer.id %lld", (long long)owner->id) : owner->name;
    return builder_storage(plan->builder, name, owner->space, owner->depth, size);
}

/* The buffer whose memory it is: the first that is not put at some place in it, and of those the largest. */
static const PlanBuffer *owner_of(const Plan *plan, const List *members) {
    const PlanBuffer *owner = &plan->buffers[members->items[0]];
    for (uint32_t i = 1; i < members->count; i++) {
        const PlanBuffer *buffer = &plan->buffers[members->items[i]];
        bool placed = buffer->offset >= 0, owner_placed = owner->offset >= 0;
        if (placed < owner_placed || (placed == owner_placed && buffer->size > owner->size))
            owner = buffer;
    }
    return owner;
}

static void add_table(Plan *plan, PlanCoverageTables *tables, const List *members, uint32_t written,
                      const PlanAccess *write) {
    const PlanBuffer *owner = owner_of(plan, members), *buffer = &plan->buffers[written];
    if (tables->count == MOST_TABLES) {
        tables->cut = true;
        return;
    }
    PlanCoverageRows rows = {0};
    int64_t begin = INT64_MAX, end = 0;
    for (uint32_t i = 0; i < members->count; i++) {
        const PlanBuffer *member = &plan->buffers[members->items[i]];
        begin = member->begin < begin ? member->begin : begin;
        end = member->end > end ? member->end : end;
        if (members->items[i] == written || plan_overlap(plan, written, members->items[i]))
            add_rows(plan, &rows, written, members->items[i], write);
    }
    bool needed = buffer == owner && rows.count;
    for (size_t i = 0; i < rows.count && !needed; i++)
        needed = rows.items[i].name != buffer->name && rows.items[i].by != program_order;
    for (uint32_t i = 0; i < rows.lack_count; i++)
        report_lack(plan, &rows.lacks[i]);
    if (!needed)
        return; /* its own barriers and the order of its partition do */
    ReportCoverage *table = ARENA_PUSH(plan->arena, tables->items, tables->count, tables->capacity);
    *table = (ReportCoverage){.storage = storage_text(plan, owner, end - begin),
                              .owner = owner->name,
                              .writer = builder_place(plan->builder, write->op),
                              .extent = extent_text(plan, buffer, buffer),
                              .whole = !buffer->value && buffer->begin == begin && buffer->end == end,
                              .rows = rows.items,
                              .row_count = rows.count};
    table->writer.detail = verdict_text(plan->builder->verdict, "writes %s%s", buffer->name,
                                        write->mma   ? ", from zero"
                                        : write->tma ? ", by TMA"
                                                     : "");
}

static void add_writes(Plan *plan, PlanCoverageTables *tables, const List *members, uint32_t index) {
    const PlanBuffer *buffer = &plan->buffers[index];
    unsigned writes = 0;
    for (uint32_t k = buffer->first; k < buffer->first + buffer->count && writes < MOST_WRITES; k++) {
        const PlanAccess *write = &plan->accesses[k];
        if (!write->writes || !write->whole || write->accumulates || !write->mask || write->listed_only)
            continue;
        writes++;
        add_table(plan, tables, members, index, write);
    }
}

/* The owner's first: they overwrite all of it. */
static void add_tables(Plan *plan, PlanCoverageTables *tables, const List *members) {
    uint32_t owner = members->count ? (uint32_t)(owner_of(plan, members) - plan->buffers) : NO_INDEX;
    if (owner != NO_INDEX)
        add_writes(plan, tables, members, owner);
    for (uint32_t i = 0; i < members->count; i++)
        if (members->items[i] != owner)
            add_writes(plan, tables, members, members->items[i]);
}

static bool shares_memory(const Plan *plan, const List *members, uint32_t buffer) {
    for (uint32_t i = 0; i < members->count; i++)
        if (members->items[i] != buffer && plan_overlap(plan, buffer, members->items[i]))
            return true;
    return false;
}

/* Buffers that are, in part, the same memory have tables together; each of the others has its own. */
static void cover_storage(Plan *plan, PlanCoverageTables *tables, const List *members) {
    List shared = {0};
    for (uint32_t i = 0; i < members->count; i++)
        if (shares_memory(plan, members, members->items[i]))
            list_add(plan->arena, &shared, members->items[i]);
    for (uint32_t i = 0; i < shared.count; i++)
        for (uint32_t k = i + 1; k < shared.count; k++)
            if (plan_overlap(plan, shared.items[i], shared.items[k]))
                note_pair(plan, shared.items[i], shared.items[k]);
    add_tables(plan, tables, &shared);
    for (uint32_t i = 0; i < members->count; i++) {
        List alone = {.items = &members->items[i], .count = 1};
        if (!shares_memory(plan, members, members->items[i]))
            add_tables(plan, tables, &alone);
    }
}

void plan_coverage(Plan *plan) {
    uint32_t storages = plan->builder->allocations.storage_count;
    List *members = ARENA_ARRAY(plan->arena, List, storages + 1);
    PlanCoverageTables tables = {0};
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        uint32_t storage = plan->buffers[i].storage;
        if (storage < storages && members[storage].count == MOST_MEMBERS)
            tables.cut = true;
        else if (storage < storages)
            list_add(plan->arena, &members[storage], i);
    }
    note_merged(plan);
    plan->order = plan_order_create(plan);
    for (size_t i = 0; i < plan->buffer_count; i++)
        if (plan->buffers[i].cut)
            note(plan, &plan->buffers[i], "passes between more partitions and loops than are listed");
    for (uint32_t s = 0; s < storages; s++)
        cover_storage(plan, &tables, &members[s]);
    for (uint32_t i = 0; i < plan->buffer_count; i++)
        if (plan->buffers[i].storage >= storages)
            cover_storage(plan, &tables, &(List){.items = &i, .count = 1});
    Report *report = plan->builder->report;
    report->coverage = tables.items;
    report->coverage_count = tables.count;
    report->coverage_note =
        tables.cut ? "There are no barriers yet: what the channels of the plan order is decided by those that each of "
                     "them will have, one pair for each. There are more tables than are shown."
        : tables.count ? "There are no barriers yet: what the channels of the plan order is decided by those that each "
                         "of them will have, one pair for each."
                       : "There are no barriers yet, and no partition reads what another one writes.";
}
