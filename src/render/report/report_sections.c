/* What the barrier report says, in the order in which it is said. How it looks is the writer's. */
#include "render/report/report_say.h"

#include <inttypes.h>
#include <stdlib.h>

static void add_names(Text *to, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++)
        text_addf(to, "%s%s", i ? ", " : "", names[i]);
}

/* ---- The verdict ------------------------------------------------------------------------------- */

enum { MOST_FOUND = 16 }; /* findings beside one barrier, buffer or edge */

static void say_finding(const Report *report, size_t index, ReportWriter *writer) {
    const Finding *finding = &report->verdict->findings[index];
    Tone tone;
    const char *word = report_severity(finding, &tone);
    report_mention(&writer->about, finding, &writer->text);
    say(writer, word, tone);
    if (report->witness_files && report->witness_files[index])
        say_text(writer, "witness", report->witness_files[index]);
}

/* The finding that the first lines are about, where a writer lays findings out: it has those lines itself. */
static const Finding *laid_out_first(const Report *report, const ReportWriter *writer) {
    return writer->finding ? report->head.finding : NULL;
}

static void lay_out(const Report *report, const Finding *finding, ReportWriter *writer) {
    writer->finding(writer, (size_t)(finding - report->verdict->findings));
    about_report(&writer->about, finding);
}

/* The gravest first. */
static void say_findings(const Report *report, ReportWriter *writer) {
    const Verdict *verdict = report->verdict;
    const Finding *first = laid_out_first(report, writer);
    if (first)
        lay_out(report, first, writer);
    for (Severity severity = SEVERITY_ERROR; severity <= SEVERITY_NOTE; severity++)
        for (size_t i = 0; i < verdict->finding_count; i++) {
            if (finding_severity(&verdict->findings[i]) != severity || &verdict->findings[i] == first)
                continue;
            if (writer->finding)
                lay_out(report, &verdict->findings[i], writer);
            else
                say_finding(report, i, writer);
        }
    for (size_t i = 0; i < verdict->incomplete_count; i++) {
        const Incomplete *incomplete = &verdict->incomplete[i];
        text_addf(&writer->text, "%s", incomplete->reason);
        if (writer->roomy && incomplete->op && *incomplete->op)
            text_addf(&writer->text, ": %s", incomplete->op);
        report_incomplete_place(report, incomplete, &writer->text);
        say(writer, "incomplete", TONE_WARNING);
    }
    for (size_t i = 0; i < verdict->note_count; i++)
        say_text(writer, "note", verdict->notes[i]);
}

void report_head(const Report *report, ReportWriter *writer) {
    const ReportHead *head = &report->head;
    bool wrong = *head->rule;
    say_toned(writer, wrong ? "what" : "ran", wrong ? TONE_BAD : TONE_PLAIN, head->what);
    say_text(writer, wrong ? "where" : "over", head->where);
    if (wrong || !writer->finding || !report->verdict->incomplete_count) /* on a page, the list below tells all reasons */
        say_text(writer, "why", head->why);
    say_text(writer, "fix", head->fix);
}

static void say_overview(const Report *report, ReportWriter *writer) {
    if (!laid_out_first(report, writer))
        report_head(report, writer);
    if (report->hung)
        say_text(
            writer, "hang",
            "The run hangs. Slots, phases and edges are those of a run that goes on past the waits that block: what "
            "the kernel is meant to do. What this run did before it hung stands beside it.");
    say_findings(report, writer);
    say_text(writer, "form", report->form_text);
    say_text(writer, "target", report->target);
    say_text(writer, "module", report->module);
    if (*report->head.rule) /* else the first lines say it */
        coverage_print(&report->verdict->coverage, &writer->text);
    if (writer->text.size)
        say(writer, "run", TONE_PLAIN);
    if (report->cluster > 1) {
        text_addf(&writer->text, "%" PRIu64 " CTAs", report->cluster);
        say(writer, "cluster", TONE_PLAIN);
    }
}

/* ---- 1. Partitions ----------------------------------------------------------------------------- */

static void say_partitions(const Report *report, ReportWriter *writer) {
    static const TableColumn columns[] = {{"partition", IS_WORDS, false}, {"role", IS_WORDS, false},
                                          {"key ops", IS_WORDS, true},    {"warps", IS_NUMBER, true},
                                          {"registers", IS_NUMBER, true}, {"type", IS_WORDS, true},
                                          {"stage", IS_NUMBER, true},     {"IR line", IS_LINE, true}};
    say_section(writer, SECTION_PARTITIONS, report->partition_count, "");
    Table table = table_begin(columns, LENGTH(columns));
    for (size_t i = 0; i < report->partition_count; i++) {
        const ReportPartition *partition = &report->partitions[i];
        text_addf(table_cell(&table, TONE_HEAD), "%s", partition->name);
        TEXT_CELLS(&table, partition->role);
        Text *ops = table_cell(&table, TONE_PLAIN);
        for (size_t k = 0; k < partition->key_op_count; k++) {
            text_addf(ops, "%s%s", k ? ", " : "", partition->key_ops[k].name);
            if (partition->key_ops[k].count > 1)
                text_addf(ops, " x%" PRIu64, partition->key_ops[k].count);
        }
        NUMBER_CELLS(&table, partition->warps, partition->registers);
        TEXT_CELLS(&table, partition->type);
        NUMBER_CELLS(&table, partition->stage, partition->ir_line ? (int64_t)partition->ir_line : -1);
    }
    say_table(writer, &table);
}

/* ---- 2. Dependencies --------------------------------------------------------------------------- */

/* The parts of the graph: what holds tensor memory together for the compiler is told by itself. */
typedef enum EdgeKind { EDGE_FORWARD, EDGE_BACKWARD, EDGE_TOKEN, EDGE_KINDS } EdgeKind;

static EdgeKind kind_of(const ReportEdge *edge) {
    return report_is_token(edge) ? EDGE_TOKEN : report_is_backward(edge) ? EDGE_BACKWARD : EDGE_FORWARD;
}

static void add_edge_place(ReportWriter *writer, Table *table, const ReportPlace *place) {
    if (writer->roomy)
        report_cell_place(place, true, table_cell(table, TONE_PLAIN));
    else
        report_place(place, table_cell(table, TONE_PLAIN));
}

/* What there is to say of it, and what was found. */
static void add_edge_note(ReportWriter *writer, const ReportEdge *edge, Text *to) {
    const Finding *found[MOST_FOUND];
    size_t count = about_edge(&writer->about, edge, found, MOST_FOUND), start = to->size;
    text_addf(to, "%s", edge->note);
    for (size_t i = 0; i < count; i++) {
        report_part_by(to, start, "\n");
        report_mention(&writer->about, found[i], to);
    }
}

static void say_edge_table(const Report *report, const EdgeGroup *groups, size_t count, ReportWriter *writer) {
    static const TableColumn columns[] = {{"from", IS_WORDS, false},      {"to", IS_WORDS, false},
                                          {"mechanism", IS_WORDS, false}, {"barrier", IS_BARRIERS, true},
                                          {"carries", IS_WORDS, true},    {"out", IS_WORDS, true},
                                          {"in", IS_WORDS, true},         {"note", IS_WORDS, true}};
    Table table = table_begin(columns, LENGTH(columns));
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < groups[i].count; k++) {
            const ReportEdge *edge = groups[i].edges[k];
            Anchor anchor = {"edge", (size_t)(edge - report->edges), false};
            text_addf(table_row(&table, TONE_PLAIN, anchor), "%s", edge->from);
            TEXT_CELLS(&table, edge->to, edge->mechanism, edge->barrier, edge->carries);
            add_edge_place(writer, &table, &edge->out);
            add_edge_place(writer, &table, &edge->in);
            add_edge_note(writer, edge, table_cell(&table, TONE_WARNING));
        }
    say_table(writer, &table);
}

static void say_edges(const Report *report, EdgeKind kind, const char *title, ReportWriter *writer) {
    const ReportEdge **edges = calloc(report->edge_count + 1, sizeof *edges);
    EdgeGroup *groups = calloc(report->edge_count + 1, sizeof *groups);
    size_t count = 0, group_count = 0;
    for (size_t i = 0; edges && i < report->edge_count; i++)
        if (kind_of(&report->edges[i]) == kind)
            edges[count++] = &report->edges[i];
    if (!edges || !groups || !report_group_edges(edges, count, groups, &group_count)) {
        writer->failed = true;
    } else if (count) {
        writer->part(writer, title);
        if (writer->edges)
            writer->edges(writer, report, groups, group_count);
        else
            say_edge_table(report, groups, group_count, writer);
    }
    free((void *)edges);
    free(groups);
}

static void say_dependencies(const Report *report, ReportWriter *writer) {
    static const char *const titles[] = {
        "[Forward|forward]: data is ready", "[Backward|backward]: memory may be used again",
        "[TMEM token|tmem-token] chains: order for the compiler, not for the hardware"};
    say_section(writer, SECTION_DEPENDENCIES, report->edge_count, "");
    if (writer->picture && report->edge_count)
        writer->picture(writer);
    for (EdgeKind kind = 0; kind < EDGE_KINDS; kind++)
        say_edges(report, kind, titles[kind], writer);
}

/* ---- 3. Index and phase ------------------------------------------------------------------------ */

/* "%50", "%arg7#1": the name of a value that says nothing. */
static bool is_number(const char *written) {
    static const char argument[] = "%arg";
    const char *digits = strncmp(written, argument, strlen(argument)) == 0 ? written + strlen(argument) : written + 1;
    return *written == '%' && *digits >= '0' && *digits <= '9' && !digits[strspn(digits, "0123456789#")];
}

/* What is written is worth a word where it differs. */
static void add_written(Text *to, const char *key, const char *seen, const char *written) {
    bool both = *seen && *written && !is_number(written) && strcmp(seen, written) != 0;
    if (*seen || *written)
        text_addf(to, "%s %s", key, *seen ? seen : written);
    if (both)
        text_addf(to, " (written %s)", written);
    else if (!*seen && *written)
        text_addf(to, " (as written)");
}

/* Where the ring is at each time: lines of their own. */
static void add_course(Text *to, const ReportSite *site) {
    size_t start = to->size;
    add_written(to, "\nindex", site->index, site->index_as_written);
    if (site->stagger)
        text_addf(to, "%sstagger +%" PRId64, to->size > start ? "; " : "\n", site->stagger);
    if (*site->part)
        text_addf(to, "%s%s", to->size > start ? "; " : "\n", site->part);
    if (site->stride > 1 || site->stride < 0)
        text_addf(to, "%sstride %" PRId64, to->size > start ? "; " : "\n", site->stride);
    start = to->size;
    add_written(to, "\nphase", site->phase, site->phase_as_written);
    if (site->first_parity >= 0)
        text_addf(to, "%sfirst parity %d%s", to->size > start ? "; " : "\n", site->first_parity,
                  site->passes_at_once ? ", passes at once" : "");
}

static void say_site(ReportWriter *writer, const ReportSite *site, bool waits) {
    Text *to = &writer->text;
    report_full_place(&site->place, to);
    if (!waits && *site->mechanism)
        text_addf(to, ", %s", site->mechanism);
    if (site->amount > 0 && !*site->place.detail) {
        bool bytes = strcmp(site->mechanism, report_mechanism(MECHANISM_TMA)) == 0;
        text_addf(to, ", ");
        text_count(to, (uint64_t)site->amount, bytes ? "byte" : "arrival");
        text_addf(to, " each time");
    }
    if (site->intended) {
        text_addf(to, site->place.times ? "; past the hang " : "; not reached before the hang, past it ");
        text_count(to, site->intended, "time");
    }
    add_course(to, site);
    say(writer, waits ? "wait" : "arrive", TONE_PLAIN);
}

static void say_bytes(ReportWriter *writer, const ReportBarrier *barrier) {
    if (barrier->expect_bytes < 0 && barrier->data_bytes < 0)
        return;
    Text *to = &writer->text;
    bool same = barrier->expect_bytes == barrier->data_bytes;
    const char *between = report_bytes_take_turns(barrier) ? " or " : " + ";
    text_addf(to, "%s", same ? "" : "MISMATCH: ");
    text_addf(to, "expects %" PRId64 " a phase, copies deliver %" PRId64,
              barrier->expect_bytes < 0 ? 0 : barrier->expect_bytes, barrier->data_bytes < 0 ? 0 : barrier->data_bytes);
    for (size_t i = 0; i < barrier->byte_count; i++) {
        const ReportBytes *part = &barrier->bytes[i];
        text_addf(to, "%s%s %s = %" PRId64, i ? between : ": ", part->name, part->text, part->bytes);
        if (part->ir_line)
            text_addf(to, " (IR line %" PRIu32 ")", part->ir_line);
    }
    say(writer, "bytes", same ? TONE_PLAIN : TONE_BAD);
}

/* "%12, mbarrier, depth 3, 1 arrival a phase, forward, other side: empty" */
static void add_barrier(Text *to, const ReportBarrier *barrier) {
    const char *value = strcmp(barrier->value, barrier->name) == 0 ? "" : barrier->value;
    const char *const texts[] = {value, barrier->kind, barrier->direction, barrier->mechanism};
    for (size_t i = 0; i < LENGTH(texts); i++)
        if (*texts[i])
            report_add_part(to, 0, ", ", "%s", texts[i]);
    if (barrier->depth >= 0)
        report_add_part(to, 0, ", ", "depth %" PRId64, barrier->depth);
    if (barrier->count >= 0) {
        report_part_by(to, 0, ", ");
        text_count(to, (uint64_t)barrier->count, strcmp(barrier->kind, "named") == 0 ? "thread" : "arrival");
        text_addf(to, " a phase");
    }
}

static void say_seen(ReportWriter *writer, const ReportBarrier *barrier) {
    Text *to = &writer->text;
    if (barrier->iterations) {
        text_addf(to, "seen over ");
        text_count(to, barrier->iterations, "use");
        text_addf(to, ", ");
        text_count(to, barrier->flips, "flip");
        text_addf(to, "%s", barrier->depth > 1 ? " over all slots" : "");
        if (barrier->intended)
            text_addf(to, " before the hang, %" PRIu64 " past it", barrier->intended);
    }
    if (*barrier->cadence)
        report_add_part(to, 0, "; ", "%s", barrier->cadence);
    if (to->size)
        say(writer, "cadence", TONE_PLAIN);
}

static void say_barrier(ReportWriter *writer, const ReportBarrier *barrier, Anchor anchor) {
    add_barrier(&writer->text, barrier);
    writer->block(writer, TONE_HEAD, barrier->name, say_taken(writer), anchor);
    add_names(&writer->text, barrier->protects, barrier->protect_count);
    if (barrier->protect_count)
        writer->entry(writer, "protects", IS_BUFFERS, TONE_PLAIN, say_taken(writer));
    say_content(writer, "other side", IS_BARRIERS, barrier->pair);
    say_text(writer, "threads", barrier->participants);
    say_content(writer, "index", IS_CODE, barrier->index);
    say_content(writer, "phase", IS_CODE, barrier->phase);
    say_text(writer, "stagger", barrier->offset);
    if (barrier->inverted)
        say_text(writer, "inverted", "its first waits pass on a fresh barrier");
    say_bytes(writer, barrier);
    say_seen(writer, barrier);
    for (size_t i = 0; i < barrier->arrive_count; i++)
        say_site(writer, &barrier->arrives[i], false);
    for (size_t i = 0; i < barrier->wait_count; i++)
        say_site(writer, &barrier->waits[i], true);
    if (!barrier->arrive_count)
        say_toned(writer, "arrive", TONE_WARNING, "none");
    if (!barrier->wait_count)
        say_toned(writer, "wait", TONE_WARNING, "none");
    for (size_t i = 0; i < barrier->issue_count; i++)
        say_toned(writer, "issue", TONE_WARNING, barrier->issues[i]);
    const Finding *found[MOST_FOUND];
    say_found(writer, found, about_barrier(&writer->about, barrier, found, MOST_FOUND));
}

/* Candidates up to the last that is a deadlock: none, nearly always. */
static size_t deadlock_end(const Report *report) {
    size_t end = report->candidate_count;
    while (end && !say_is_deadlock(&report->candidates[end - 1]))
        end--;
    return end;
}

/* What is wrong with it, not only remarkable. */
static bool is_wrong(const Report *report, size_t candidates, const ReportBarrier *barrier, ReportWriter *writer) {
    const Finding *found[MOST_FOUND];
    size_t count = about_barrier(&writer->about, barrier, found, MOST_FOUND);
    for (size_t i = 0; i < count; i++)
        if (finding_severity(found[i]) == SEVERITY_ERROR)
            return true;
    for (size_t i = 0; i < candidates; i++)
        if (say_is_deadlock(&report->candidates[i]) && strcmp(report->candidates[i].barrier, barrier->name) == 0)
            return true;
    return barrier->expect_bytes != barrier->data_bytes;
}

/* A row a barrier. */
static void say_barrier_table(const Report *report, ReportWriter *writer) {
    static const TableColumn columns[] = {
        {"barrier", IS_WORDS, false},   {"direction", IS_WORDS, true}, {"depth", IS_NUMBER, true},
        {"count", IS_NUMBER, true},     {"index", IS_CODE, true},      {"phase", IS_CODE, true},
        {"first wait", IS_WORDS, true}, {"expects", IS_NUMBER, true},  {"delivered", IS_NUMBER, true},
        {"uses", IS_NUMBER, true},      {"flips", IS_NUMBER, true},    {"other side", IS_BARRIERS, true},
        {"issues", IS_NUMBER, true}};
    Table table = table_begin(columns, LENGTH(columns));
    size_t candidates = deadlock_end(report);
    for (size_t i = 0; i < report->barrier_count; i++) {
        const ReportBarrier *barrier = &report->barriers[i];
        Anchor anchor = {"barrier", i, is_wrong(report, candidates, barrier, writer)};
        text_addf(table_row(&table, TONE_HEAD, anchor), "%s", barrier->name);
        TEXT_CELLS(&table, barrier->direction);
        NUMBER_CELLS(&table, barrier->depth, barrier->count);
        TEXT_CELLS(&table, barrier->index, barrier->phase,
                   !barrier->wait_count ? ""
                   : barrier->inverted  ? "passes"
                                        : "waits");
        NUMBER_CELLS(&table, barrier->expect_bytes, barrier->data_bytes, (int64_t)barrier->iterations,
                     (int64_t)barrier->flips);
        TEXT_CELLS(&table, barrier->pair);
        NUMBER_CELLS(&table, barrier->issue_count ? (int64_t)barrier->issue_count : -1);
    }
    say_table(writer, &table);
}

static void say_barriers(const Report *report, ReportWriter *writer) {
    say_section(writer, SECTION_PHASES, report->barrier_count, "");
    if (writer->roomy && report->barrier_count)
        say_barrier_table(report, writer);
    size_t candidates = deadlock_end(report);
    for (size_t i = 0; i < report->barrier_count; i++)
        say_barrier(writer, &report->barriers[i],
                    (Anchor){"sites", i, is_wrong(report, candidates, &report->barriers[i], writer)});
}

/* ---- 4. Shared data ---------------------------------------------------------------------------- */

static void add_buffer(Text *to, const ReportBuffer *buffer) {
    bool memory = strcmp(buffer->space, "register") != 0;
    text_addf(to, "%s%s", buffer->space, memory ? " memory" : "");
    if (*buffer->value && strcmp(buffer->value, buffer->name) != 0)
        text_addf(to, ", %s", buffer->value);
    if (buffer->depth >= 0 && memory) {
        text_addf(to, ", ");
        text_count(to, (uint64_t)buffer->depth, "slot");
    }
    if (buffer->size >= 0) {
        text_addf(to, ", ");
        text_count(to, (uint64_t)buffer->size, strcmp(buffer->space, "tensor") == 0 ? "column" : "byte");
    }
    if (buffer->id >= 0)
        text_addf(to, ", buffer.id %" PRId64, buffer->id);
    if (buffer->offset >= 0)
        text_addf(to, ", buffer.offset %" PRId64, buffer->offset);
}

static void say_places(ReportWriter *writer, const char *key, const ReportPlace *places, size_t count) {
    for (size_t i = 0; i < count; i++) {
        report_full_place(&places[i], &writer->text);
        say(writer, key, TONE_PLAIN);
    }
    if (!count)
        say_text(writer, key, "none");
}

static void say_buffers(const Report *report, ReportWriter *writer) {
    say_section(writer, SECTION_SHARED, report->buffer_count, "");
    for (size_t i = 0; i < report->buffer_count; i++) {
        const ReportBuffer *buffer = &report->buffers[i];
        add_buffer(&writer->text, buffer);
        writer->block(writer, TONE_HEAD, buffer->name, say_taken(writer), (Anchor){"buffer", i, false});
        say_content(writer, "storage", IS_CODE, buffer->storage);
        say_places(writer, "written by", buffer->writers, buffer->writer_count);
        say_places(writer, "read by", buffer->readers, buffer->reader_count);
        say_content(writer, "barrier", IS_BARRIERS, buffer->barrier);
        if (!*buffer->barrier)
            say_toned(writer, "barrier", TONE_WARNING, "none");
        for (size_t k = 0; k < buffer->note_count; k++)
            say_text(writer, "note", buffer->notes[k]);
        const Finding *found[MOST_FOUND];
        say_found(writer, found, about_buffer(&writer->about, buffer, found, MOST_FOUND));
    }
}

/* ---- 5. Aliases -------------------------------------------------------------------------------- */

enum { DEEPEST_INDENT = 12 };

static void add_alias(Table *table, const ReportAlias *alias) {
    Text *value = table_cell(table, TONE_PLAIN);
    for (uint32_t i = 0; i < alias->level && i < DEEPEST_INDENT; i++)
        text_addf(value, "  ");
    text_addf(value, "%s", alias->value);
    TEXT_CELLS(table, alias->how, alias->partition);
    Text *at = table_cell(table, TONE_PLAIN);
    if (alias->ir_line)
        text_addf(at, "IR line %" PRIu32, alias->ir_line);
}

static void add_use(Table *table, const char *what, const ReportPlace *place) {
    TEXT_CELLS(table, what);
    Text *op = table_cell(table, TONE_PLAIN);
    text_addf(op, "%s", place->op);
    if (*place->detail)
        text_addf(op, ", %s", place->detail);
    TEXT_CELLS(table, place->partition);
    report_cell_place(place, false, table_cell(table, TONE_PLAIN));
}

static const TableColumn alias_columns[] = {
    {"value", IS_CODE, false}, {"how", IS_WORDS, false}, {"partition", IS_WORDS, true}, {"at", IS_WORDS, true}};

static void say_barrier_aliases(ReportWriter *writer, const ReportBarrier *barrier) {
    Table table = table_begin(alias_columns, LENGTH(alias_columns));
    for (size_t i = 0; i < barrier->alias_count; i++)
        add_alias(&table, &barrier->aliases[i]);
    for (size_t i = 0; i < barrier->other_count; i++)
        add_use(&table, "used", &barrier->others[i]);
    for (size_t i = 0; i < barrier->arrive_count; i++)
        add_use(&table, "arrive", &barrier->arrives[i].place);
    for (size_t i = 0; i < barrier->wait_count; i++)
        add_use(&table, "wait", &barrier->waits[i].place);
    if (table_rows(&table))
        writer->block(writer, TONE_HEAD, barrier->name, str_of(barrier->kind), (Anchor){0});
    say_table(writer, &table);
}

static void say_buffer_aliases(ReportWriter *writer, const ReportBuffer *buffer) {
    if (!buffer->alias_count)
        return;
    Table table = table_begin(alias_columns, LENGTH(alias_columns));
    for (size_t i = 0; i < buffer->alias_count; i++)
        add_alias(&table, &buffer->aliases[i]);
    text_addf(&writer->text, "buffer, %s", buffer->space);
    writer->block(writer, TONE_HEAD, buffer->name, say_taken(writer), (Anchor){0});
    say_table(writer, &table);
}

static void say_aliases(const Report *report, ReportWriter *writer) {
    size_t groups = 0;
    for (size_t i = 0; i < report->barrier_count; i++) {
        const ReportBarrier *barrier = &report->barriers[i];
        groups += barrier->alias_count || barrier->arrive_count || barrier->wait_count || barrier->other_count;
    }
    for (size_t i = 0; i < report->buffer_count; i++)
        groups += report->buffers[i].alias_count > 0;
    say_section(writer, SECTION_ALIASES, groups, "");
    for (size_t i = 0; i < report->barrier_count; i++)
        say_barrier_aliases(writer, &report->barriers[i]);
    for (size_t i = 0; i < report->buffer_count; i++)
        say_buffer_aliases(writer, &report->buffers[i]);
}

/* ---- All of it -------------------------------------------------------------------------------- */

/* Whether a section is asked for. */
static bool is_reported(const ReportWriter *writer, SectionId id) {
    return !writer->failed && (!writer->sections || writer->sections & 1u << id);
}

void report_sections(const Report *report, ReportWriter *writer) {
    static void (*const sections[])(const Report *report, ReportWriter *writer) = {
        say_partitions, say_dependencies, say_barriers, say_buffers,
        say_aliases,    say_deadlocks,    say_coverage, say_limits}; /* ORDER SectionId */
    bool hangs = report->deadlock_count > 0; /* what hangs comes before how the rest is meant to work */
    writer->failed |= !about_init(&writer->about, report);
    if (!writer->sections)
        say_overview(report, writer);
    if (hangs && is_reported(writer, SECTION_DEADLOCKS))
        say_deadlocks(report, writer);
    for (SectionId i = 0; i < LENGTH(sections) && !report->verdict->program; i++)
        if (is_reported(writer, i) && !(hangs && i == SECTION_DEADLOCKS))
            sections[i](report, writer);
    about_free(&writer->about);
    writer->about = (About){0};
}
