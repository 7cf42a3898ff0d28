/* What the barrier report says, in the order in which it is said. How it looks is the writer's. */
#include "render/report_sections.h"

#include <inttypes.h>
#include <stdlib.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* ---- Words ------------------------------------------------------------------------------------- */

static bool is_said(const char *text) {
    return *text;
}

/* What is put together in the writer's text, as a slice that is good until more is put there. */
static Str taken(ReportWriter *writer) {
    Str text = {writer->text.size ? writer->text.data : "", writer->text.size};
    writer->failed |= writer->text.failed;
    writer->text.size = 0;
    return text;
}

static void say(ReportWriter *writer, const char *key, Tone tone) {
    writer->entry(writer, key, tone, taken(writer));
}

static void say_text(ReportWriter *writer, const char *key, Tone tone, const char *text) {
    if (is_said(text))
        writer->entry(writer, key, tone, str_of(text));
}

static void say_table(ReportWriter *writer, Table *table) {
    writer->failed |= table->text.failed;
    if (!writer->failed)
        writer->table(writer, table);
    table_free(table);
}

/* An empty section says just that. */
static void begin_section(ReportWriter *writer, const char *title, const char *sentence, size_t count,
                          const char *nothing) {
    writer->section(writer, title, count ? sentence : "");
    if (!count)
        writer->line(writer, TONE_PLAIN, str_of(nothing));
}

/* Between the parts of a list: nothing before the first, which is at `start`. */
static void part_by(Text *to, size_t start, const char *between) {
    if (to->size > start)
        text_addf(to, "%s", between);
}

static void add_number(Text *to, int64_t number) {
    if (number >= 0)
        text_addf(to, "%" PRId64, number);
}

static void add_ir_line(Text *to, uint32_t line) {
    if (line)
        text_addf(to, "IR line %" PRIu32, line);
}

static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

void report_place(const ReportPlace *place, Text *to) {
    bool source = is_said(place->file) && place->line;
    add_ir_line(to, place->ir_line);
    if (source)
        text_addf(to, place->ir_line ? " (%s:%" PRIu32 ")" : "%s:%" PRIu32, last_part(place->file), place->line);
}

/* As in a table, where it may be broken: "IR line 41, kernel.py:19". */
static void add_cell_place(Text *to, const ReportPlace *place) {
    bool source = is_said(place->file) && place->line;
    add_ir_line(to, place->ir_line);
    if (source)
        text_addf(to, "%s%s:%" PRIu32, place->ir_line ? ", " : "", last_part(place->file), place->line);
}

/* "partition0, IR line 60 (kernel.py:33), 12 times: ttng.wait_barrier, 16384 bytes" */
static void add_full_place(Text *to, const ReportPlace *place) {
    size_t start = to->size;
    text_addf(to, "%s", place->partition);
    if (place->ir_line || (is_said(place->file) && place->line)) {
        part_by(to, start, ", ");
        report_place(place, to);
    }
    if (place->times) {
        part_by(to, start, ", ");
        text_count(to, place->times, "time");
    }
    if (is_said(place->op)) {
        part_by(to, start, ": ");
        text_addf(to, "%s", place->op);
    }
    if (is_said(place->detail)) {
        part_by(to, start, is_said(place->op) ? ", " : ": ");
        text_addf(to, "%s", place->detail);
    }
}

static void add_names(Text *to, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++)
        text_addf(to, "%s%s", i ? ", " : "", names[i]);
}

const char *report_role(const Report *report, const char *name) {
    for (size_t i = 0; i < report->partition_count; i++)
        if (strcmp(report->partitions[i].name, name) == 0)
            return report->partitions[i].role;
    return "";
}

/* ---- The verdict ------------------------------------------------------------------------------- */

void report_outcome(const Report *report, Text *to) {
    const Verdict *verdict = report->verdict;
    if (verdict->kind == VERDICT_FINDINGS)
        text_count(to, verdict->finding_count, "finding");
    else
        text_addf(to, "%s", verdict_kind_name(verdict->kind));
    if (is_said(report->form))
        text_addf(to, "; %s", report->form);
    text_addf(to, "; %s", is_said(report->launch) ? report->launch : "not run");
}

static void say_findings(const Verdict *verdict, ReportWriter *writer) {
    static const struct {
        const char *word;
        Tone tone;
    } severities[] = {{"error", TONE_BAD}, {"warning", TONE_WARNING}, {"note", TONE_HEAD}}; /* ORDER Severity */
    for (size_t i = 0; i < verdict->finding_count; i++) {
        const Finding *finding = &verdict->findings[i];
        const Rule *rule = rule_of(finding->rule);
        text_addf(&writer->text, "%s", finding->message);
        if (finding->place_count && finding->places[0].ir_line)
            text_addf(&writer->text, " (IR line %" PRIu32 ")", finding->places[0].ir_line);
        text_addf(&writer->text, " [%s]", rule->id);
        say(writer, severities[rule->severity].word, severities[rule->severity].tone);
    }
    for (size_t i = 0; i < verdict->incomplete_count; i++) {
        const Incomplete *incomplete = &verdict->incomplete[i];
        text_addf(&writer->text, "%s", incomplete->reason);
        if (incomplete->ir_line)
            text_addf(&writer->text, " (IR line %" PRIu32 ")", incomplete->ir_line);
        say(writer, "incomplete", TONE_WARNING);
    }
    for (size_t i = 0; i < verdict->note_count; i++)
        say_text(writer, "note", TONE_PLAIN, verdict->notes[i]);
}

static void say_overview(const Report *report, ReportWriter *writer) {
    say_findings(report->verdict, writer);
    say_text(writer, "form", TONE_PLAIN, report->form_text);
    say_text(writer, "target", TONE_PLAIN, report->target);
    say_text(writer, "module", TONE_PLAIN, report->module);
    if (report->cluster > 1) {
        text_addf(&writer->text, "%" PRIu64 " CTAs", report->cluster);
        say(writer, "cluster", TONE_PLAIN);
    }
}

/* ---- 1. Partitions ----------------------------------------------------------------------------- */

static void say_partitions(const Report *report, ReportWriter *writer) {
    static const TableColumn columns[] = {
        {"partition", false, false}, {"role", false, false}, {"key ops", false, true}, {"warps", true, true},
        {"registers", true, true},   {"type", false, true},  {"stage", true, true},    {"IR line", true, true},
    };
    begin_section(writer, "1. Partitions",
                  "A [partition] is a group of warps that runs a program of its own ([warp "
                  "specialisation|warp-specialisation]).",
                  report->partition_count, "no partitions");
    Table table = table_begin(columns, LENGTH(columns));
    for (size_t i = 0; i < report->partition_count; i++) {
        const ReportPartition *partition = &report->partitions[i];
        text_addf(table_cell(&table, TONE_HEAD), "%s", partition->name);
        text_addf(table_cell(&table, TONE_PLAIN), "%s", partition->role);
        Text *ops = table_cell(&table, TONE_PLAIN);
        for (size_t k = 0; k < partition->key_op_count; k++) {
            text_addf(ops, "%s%s", k ? ", " : "", partition->key_ops[k].name);
            if (partition->key_ops[k].count > 1)
                text_addf(ops, " x%" PRIu64, partition->key_ops[k].count);
        }
        add_number(table_cell(&table, TONE_PLAIN), partition->warps);
        add_number(table_cell(&table, TONE_PLAIN), partition->registers);
        text_addf(table_cell(&table, TONE_PLAIN), "%s", partition->type);
        add_number(table_cell(&table, TONE_PLAIN), partition->stage);
        add_number(table_cell(&table, TONE_PLAIN), partition->ir_line ? (int64_t)partition->ir_line : -1);
    }
    say_table(writer, &table);
}

/* ---- 2. Dependencies --------------------------------------------------------------------------- */

/* The sections of the graph: what holds tensor memory together for the compiler is told by itself. */
typedef enum EdgeKind { EDGE_FORWARD, EDGE_BACKWARD, EDGE_TOKEN, EDGE_KINDS } EdgeKind;

static EdgeKind kind_of(const ReportEdge *edge) {
    if (strcmp(edge->mechanism, report_mechanism(MECHANISM_TMEM_TOKEN)) == 0)
        return EDGE_TOKEN;
    return strcmp(edge->direction, "backward") == 0 ? EDGE_BACKWARD : EDGE_FORWARD;
}

void report_edge_text(const ReportEdge *edge, Text *to) {
    size_t start = to->size;
    bool named = strncmp(edge->barrier, edge->mechanism, strlen(edge->mechanism)) == 0; /* "named barrier 9" */
    text_addf(to, "%s", named ? "" : edge->mechanism);
    if (kind_of(edge) == EDGE_TOKEN && strcmp(edge->direction, "backward") == 0)
        text_addf(to, " (backward)");
    if (is_said(edge->barrier)) {
        part_by(to, start, ": ");
        text_addf(to, "%s", edge->barrier);
    }
    if (is_said(edge->carries)) {
        part_by(to, start, is_said(edge->barrier) ? ", " : ": ");
        text_addf(to, "%s%s", is_said(edge->barrier) ? "carries " : "", edge->carries);
    }
}

void report_edge_places(const ReportEdge *edge, Text *to) {
    size_t start = to->size;
    report_place(&edge->out, to);
    size_t middle = to->size;
    part_by(to, start, " -> ");
    size_t rest = to->size;
    report_place(&edge->in, to);
    if (to->size == rest)
        to->size = middle;
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
        writer->edges(writer, report, groups, group_count);
    }
    free((void *)edges);
    free(groups);
}

static void say_dependencies(const Report *report, ReportWriter *writer) {
    static const char *const titles[] = {
        "[Forward|forward]: data is ready", "[Backward|backward]: memory may be used again",
        "[TMEM token|tmem-token] chains: order for the compiler, not for the hardware"};
    begin_section(writer, "2. Dependencies", "An edge leads from an [arrive] to the [wait] that it releases.",
                  report->edge_count, "no edges between partitions");
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
    bool both = is_said(seen) && is_said(written) && !is_number(written) && strcmp(seen, written) != 0;
    if (is_said(seen) || is_said(written))
        text_addf(to, "%s %s", key, is_said(seen) ? seen : written);
    if (both)
        text_addf(to, " (written %s)", written);
    else if (!is_said(seen) && is_said(written))
        text_addf(to, " (as written)");
}

/* Where the ring is at each time: lines of their own. */
static void add_course(Text *to, const ReportSite *site) {
    size_t start = to->size;
    add_written(to, "\nindex", site->index, site->index_as_written);
    if (site->stagger)
        text_addf(to, "%sstagger +%" PRId64, to->size > start ? "; " : "\n", site->stagger);
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
    add_full_place(to, &site->place);
    if (!waits && is_said(site->mechanism))
        text_addf(to, ", %s", site->mechanism);
    if (site->amount > 0 && !is_said(site->place.detail)) {
        bool bytes = strcmp(site->mechanism, report_mechanism(MECHANISM_TMA)) == 0;
        text_addf(to, ", ");
        text_count(to, (uint64_t)site->amount, bytes ? "byte" : "arrival");
        text_addf(to, " each time");
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
        if (is_said(texts[i])) {
            part_by(to, 0, ", ");
            text_addf(to, "%s", texts[i]);
        }
    if (barrier->depth >= 0) {
        part_by(to, 0, ", ");
        text_addf(to, "depth %" PRId64, barrier->depth);
    }
    if (barrier->count >= 0) {
        part_by(to, 0, ", ");
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
        text_addf(to, "%s", barrier->depth > 1 ? " of all slots together" : "");
    }
    if (is_said(barrier->cadence)) {
        part_by(to, 0, "; ");
        text_addf(to, "%s", barrier->cadence);
    }
    if (to->size)
        say(writer, "cadence", TONE_PLAIN);
}

static void say_barrier(ReportWriter *writer, const ReportBarrier *barrier) {
    add_barrier(&writer->text, barrier);
    writer->block(writer, TONE_HEAD, barrier->name, taken(writer));
    add_names(&writer->text, barrier->protects, barrier->protect_count);
    if (barrier->protect_count)
        say(writer, "protects", TONE_PLAIN);
    say_text(writer, "other side", TONE_PLAIN, barrier->pair);
    say_text(writer, "threads", TONE_PLAIN, barrier->participants);
    say_text(writer, "index", TONE_PLAIN, barrier->index);
    say_text(writer, "phase", TONE_PLAIN, barrier->phase);
    say_text(writer, "stagger", TONE_PLAIN, barrier->offset);
    if (barrier->inverted)
        say_text(writer, "inverted", TONE_PLAIN, "its first waits pass on a fresh barrier");
    say_bytes(writer, barrier);
    say_seen(writer, barrier);
    for (size_t i = 0; i < barrier->arrive_count; i++)
        say_site(writer, &barrier->arrives[i], false);
    for (size_t i = 0; i < barrier->wait_count; i++)
        say_site(writer, &barrier->waits[i], true);
    if (!barrier->arrive_count)
        say_text(writer, "arrive", TONE_WARNING, "none");
    if (!barrier->wait_count)
        say_text(writer, "wait", TONE_WARNING, "none");
    for (size_t i = 0; i < barrier->issue_count; i++)
        say_text(writer, "issue", TONE_WARNING, barrier->issues[i]);
}

static void say_barriers(const Report *report, ReportWriter *writer) {
    begin_section(writer, "3. Index and phase",
                  "A [wait] for [parity] P blocks while the [phase] bit of its [slot] is P; the bit starts at 0. "
                  "[accumCnt|accumcnt] counts the uses of a [ring].",
                  report->barrier_count, "no barriers");
    for (size_t i = 0; i < report->barrier_count; i++)
        say_barrier(writer, &report->barriers[i]);
}

/* ---- 4. Shared data ---------------------------------------------------------------------------- */

static void add_buffer(Text *to, const ReportBuffer *buffer) {
    bool memory = strcmp(buffer->space, "register") != 0;
    text_addf(to, "%s%s", buffer->space, memory ? " memory" : "");
    if (is_said(buffer->value) && strcmp(buffer->value, buffer->name) != 0)
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
        add_full_place(&writer->text, &places[i]);
        say(writer, key, TONE_PLAIN);
    }
    if (!count)
        say_text(writer, key, TONE_PLAIN, "nobody");
}

static void say_buffers(const Report *report, ReportWriter *writer) {
    begin_section(writer, "4. Shared data",
                  "What [partitions|partition] share: who writes it, who reads it, and what stands between.",
                  report->buffer_count, "no shared data");
    for (size_t i = 0; i < report->buffer_count; i++) {
        const ReportBuffer *buffer = &report->buffers[i];
        add_buffer(&writer->text, buffer);
        writer->block(writer, TONE_HEAD, buffer->name, taken(writer));
        say_text(writer, "storage", TONE_PLAIN, buffer->storage);
        say_places(writer, "written by", buffer->writers, buffer->writer_count);
        say_places(writer, "read by", buffer->readers, buffer->reader_count);
        if (is_said(buffer->barrier))
            say_text(writer, "barrier", TONE_PLAIN, buffer->barrier);
        else
            say_text(writer, "barrier", TONE_WARNING, "none");
        for (size_t k = 0; k < buffer->note_count; k++)
            say_text(writer, "note", TONE_PLAIN, buffer->notes[k]);
    }
}

/* ---- 5. Aliases -------------------------------------------------------------------------------- */

enum { DEEPEST_INDENT = 12 };

static void add_alias(Table *table, const ReportAlias *alias) {
    Text *value = table_cell(table, TONE_PLAIN);
    for (uint32_t i = 0; i < alias->level && i < DEEPEST_INDENT; i++)
        text_addf(value, "  ");
    text_addf(value, "%s", alias->value);
    text_addf(table_cell(table, TONE_PLAIN), "%s", alias->how);
    text_addf(table_cell(table, TONE_PLAIN), "%s", alias->partition);
    add_ir_line(table_cell(table, TONE_PLAIN), alias->ir_line);
}

static void add_use(Table *table, const char *what, const ReportPlace *place) {
    text_addf(table_cell(table, TONE_PLAIN), "%s", what);
    Text *op = table_cell(table, TONE_PLAIN);
    text_addf(op, "%s", place->op);
    if (is_said(place->detail))
        text_addf(op, ", %s", place->detail);
    text_addf(table_cell(table, TONE_PLAIN), "%s", place->partition);
    add_cell_place(table_cell(table, TONE_PLAIN), place);
}

static const TableColumn alias_columns[] = {
    {"value", false, false}, {"how", false, false}, {"partition", false, true}, {"at", false, true}};

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
        writer->block(writer, TONE_HEAD, barrier->name, str_of(barrier->kind));
    say_table(writer, &table);
}

static void say_buffer_aliases(ReportWriter *writer, const ReportBuffer *buffer) {
    if (!buffer->alias_count)
        return;
    Table table = table_begin(alias_columns, LENGTH(alias_columns));
    for (size_t i = 0; i < buffer->alias_count; i++)
        add_alias(&table, &buffer->aliases[i]);
    text_addf(&writer->text, "buffer, %s", buffer->space);
    writer->block(writer, TONE_HEAD, buffer->name, taken(writer));
    say_table(writer, &table);
}

static void say_aliases(const Report *report, ReportWriter *writer) {
    size_t count = 0;
    for (size_t i = 0; i < report->barrier_count; i++)
        count += report->barriers[i].alias_count + report->barriers[i].arrive_count + report->barriers[i].wait_count +
                 report->barriers[i].other_count;
    for (size_t i = 0; i < report->buffer_count; i++)
        count += report->buffers[i].alias_count;
    begin_section(writer, "5. Aliases",
                  "Every value that is the same barrier or the same buffer, and where it is used.", count,
                  "no aliases");
    for (size_t i = 0; i < report->barrier_count; i++)
        say_barrier_aliases(writer, &report->barriers[i]);
    for (size_t i = 0; i < report->buffer_count; i++)
        say_buffer_aliases(writer, &report->buffers[i]);
}

/* ---- 6. Deadlocks ------------------------------------------------------------------------------ */

static void add_blocked(Table *table, const ReportBlocked *blocked) {
    text_addf(table_cell(table, TONE_HEAD), "%s", blocked->place.partition);
    add_cell_place(table_cell(table, TONE_PLAIN), &blocked->place);
    text_addf(table_cell(table, TONE_BAD), "%s", blocked->waits_for);
    add_number(table_cell(table, TONE_PLAIN), blocked->parity);
    add_number(table_cell(table, TONE_PLAIN), blocked->phase);
    add_number(table_cell(table, TONE_PLAIN), blocked->pending);
    add_number(table_cell(table, TONE_PLAIN), blocked->bytes ? blocked->bytes : -1);
    add_number(table_cell(table, TONE_PLAIN), blocked->flips);
}

static void say_could(ReportWriter *writer, const ReportBlocked *blocked) {
    text_addf(&writer->text, "%s waits", blocked->place.partition);
    if (is_said(blocked->why))
        text_addf(&writer->text, ": %s", blocked->why);
    writer->block(writer, TONE_HEAD, blocked->waits_for, taken(writer));
    for (size_t i = 0; i < blocked->could_count; i++) {
        ReportPlace place = blocked->could[i];
        const char *reason = place.detail;
        place.detail = "";
        add_full_place(&writer->text, &place);
        if (is_said(reason)) {
            part_by(&writer->text, 0, "; ");
            text_addf(&writer->text, "%s", reason);
        }
        say(writer, "could flip", TONE_PLAIN);
    }
    if (!blocked->could_count)
        say_text(writer, "could flip", TONE_BAD, "nobody");
}

static void say_deadlock(const ReportDeadlock *deadlock, ReportWriter *writer) {
    static const TableColumn columns[] = {
        {"agent", false, false},   {"at", false, true},     {"waits for", false, false}, {"wants parity", true, true},
        {"phase now", true, true}, {"pending", true, true}, {"bytes", true, true},       {"flips", true, true},
    };
    text_addf(&writer->text, "%s", deadlock->message);
    writer->block(writer, TONE_BAD, deadlock->rule, taken(writer));
    say_text(writer, "why", TONE_PLAIN, deadlock->why);
    say_text(writer, "fix", TONE_PLAIN, deadlock->fix);
    say_text(writer, "schedule", TONE_PLAIN, deadlock->schedule);
    say_text(writer, "launch", TONE_PLAIN, deadlock->launch);
    if (!deadlock->blocked_count)
        return;
    writer->part(writer, "[Agents|agent] that wait for ever");
    Table table = table_begin(columns, LENGTH(columns));
    for (size_t i = 0; i < deadlock->blocked_count; i++)
        add_blocked(&table, &deadlock->blocked[i]);
    say_table(writer, &table);
    writer->part(writer, "Who could flip it, and why it does not");
    for (size_t i = 0; i < deadlock->blocked_count; i++)
        say_could(writer, &deadlock->blocked[i]);
}

static void say_candidates(const Report *report, ReportWriter *writer) {
    static const TableColumn columns[] = {{"barrier", false, false},
                                          {"by count", false, false},
                                          {"verdict", false, false},
                                          {"why", false, false},
                                          {"at", false, true}};
    if (!report->candidate_count)
        return;
    writer->part(writer, "[Candidates|candidate]: suspicious by count, decided by phases");
    Table table = table_begin(columns, LENGTH(columns));
    for (size_t i = 0; i < report->candidate_count; i++) {
        const ReportCandidate *candidate = &report->candidates[i];
        bool bad = strcmp(candidate->verdict, "deadlock") == 0;
        text_addf(table_cell(&table, TONE_HEAD), "%s", candidate->barrier);
        text_addf(table_cell(&table, TONE_PLAIN), "%s", candidate->counts);
        text_addf(table_cell(&table, bad ? TONE_BAD : TONE_PLAIN), "%s", candidate->verdict);
        text_addf(table_cell(&table, TONE_PLAIN), "%s", candidate->why);
        Text *at = table_cell(&table, TONE_PLAIN);
        for (size_t k = 0; k < candidate->place_count; k++) {
            text_addf(at, "%s", k ? "\n" : "");
            add_cell_place(at, &candidate->places[k]);
        }
    }
    say_table(writer, &table);
}

static void say_deadlocks(const Report *report, ReportWriter *writer) {
    Text *to = &writer->text;
    bool none = strcmp(report->deadlock_verdict, "none") == 0, found = strcmp(report->deadlock_verdict, "found") == 0;
    writer->section(writer, "6. Deadlocks",
                    "Decided by running the [phases|phase], not by counting arrives and waits.");
    text_addf(to, "%s", none ? "no deadlock" : found ? "DEADLOCK" : "unknown");
    if (is_said(report->deadlock_reason))
        text_addf(to, ": %s", report->deadlock_reason);
    writer->line(writer, none ? TONE_GOOD : found ? TONE_BAD : TONE_WARNING, taken(writer));
    for (size_t i = 0; i < report->deadlock_count; i++)
        say_deadlock(&report->deadlocks[i], writer);
    say_candidates(report, writer);
}

/* ---- 7. Coverage ------------------------------------------------------------------------------- */

static void add_row(Table *table, const ReportRow *row) {
    static const struct {
        const char *word;
        Tone tone;
    } orders[] = {{"✓ ordered", TONE_GOOD},
                  {"✗ MISSING", TONE_BAD},
                  {"to be ordered", TONE_WARNING},
                  {"not seen", TONE_PLAIN}}; /* ORDER ReportOrder */
    text_addf(table_cell(table, orders[row->order].tone), "%s", orders[row->order].word);
    text_addf(table_cell(table, TONE_HEAD), "%s", row->name);
    text_addf(table_cell(table, TONE_PLAIN), "%s", row->extent);
    Text *reader = table_cell(table, TONE_PLAIN);
    text_addf(reader, "%s", row->consumer);
    if (row->read.ir_line || is_said(row->read.file)) {
        part_by(reader, 0, ", ");
        add_cell_place(reader, &row->read);
    }
    if (is_said(row->read.detail))
        text_addf(reader, "; %s", row->read.detail);
    Text *cadence = table_cell(table, TONE_PLAIN);
    text_addf(cadence, "%s", row->cadence);
    if (row->times) {
        text_addf(cadence, "%s", is_said(row->cadence) ? "; " : "");
        text_count(cadence, row->times, "time");
    }
    text_addf(table_cell(table, TONE_PLAIN), "%s", row->by);
}

static void say_storage(const ReportCoverage *coverage, ReportWriter *writer) {
    static const TableColumn columns[] = {{"order", false, false},   {"buffer", false, false}, {"extent", false, true},
                                          {"read by", false, false}, {"cadence", false, true}, {"by", false, true}};
    Text *to = &writer->text;
    if (is_said(coverage->owner))
        text_addf(to, "the memory of %s", coverage->owner);
    writer->block(writer, TONE_HEAD, coverage->storage, taken(writer));
    add_full_place(to, &coverage->writer);
    say(writer, "written by", TONE_PLAIN);
    text_addf(to, "%s%s", coverage->extent,
              coverage->whole ? is_said(coverage->extent) ? ", all of it" : "all of it" : "");
    if (to->size)
        say(writer, "overwrites", TONE_PLAIN);
    Table table = table_begin(columns, LENGTH(columns));
    for (size_t i = 0; i < coverage->row_count; i++)
        add_row(&table, &coverage->rows[i]);
    say_table(writer, &table);
}

static void say_coverage(const Report *report, ReportWriter *writer) {
    begin_section(writer, "7. Coverage",
                  "What is overwritten: is every reader done by then, in every schedule ([happens-before])?",
                  report->coverage_count,
                  is_said(report->coverage_note) ? report->coverage_note : "nothing is overwritten");
    if (report->coverage_count && is_said(report->coverage_note))
        writer->line(writer, TONE_PLAIN, str_of(report->coverage_note));
    size_t missing = 0;
    for (size_t i = 0; i < report->coverage_count; i++)
        for (size_t k = 0; k < report->coverage[i].row_count; k++)
            missing += report->coverage[i].rows[k].order == COVERAGE_MISSING;
    if (missing) {
        text_addf(&writer->text, "%zu MISSING: what is still to be read may be overwritten", missing);
        writer->line(writer, TONE_BAD, taken(writer));
    }
    for (size_t i = 0; i < report->coverage_count; i++)
        say_storage(&report->coverage[i], writer);
}

/* ---- Limits ------------------------------------------------------------------------------------ */

static void say_limits(const Report *report, ReportWriter *writer) {
    static const TableColumn columns[] = {{"limit", false, false},
                                          {"used", true, false},
                                          {"of", true, true},
                                          {"unit", false, true},
                                          {"note", false, true}};
    if (!report->limit_count)
        return;
    writer->section(writer, "Limits", "What the kernel takes of what an SM has.");
    Table table = table_begin(columns, LENGTH(columns));
    for (size_t i = 0; i < report->limit_count; i++) {
        const ReportLimit *limit = &report->limits[i];
        bool over = limit->most >= 0 && limit->used > limit->most;
        text_addf(table_cell(&table, TONE_PLAIN), "%s", limit->name);
        add_number(table_cell(&table, over ? TONE_BAD : TONE_PLAIN), limit->used);
        add_number(table_cell(&table, TONE_PLAIN), limit->most);
        text_addf(table_cell(&table, TONE_PLAIN), "%s", limit->unit);
        text_addf(table_cell(&table, TONE_BAD), "%s", over ? "TOO MUCH" : "");
    }
    say_table(writer, &table);
}

void report_sections(const Report *report, ReportWriter *writer) {
    say_overview(report, writer);
    say_partitions(report, writer);
    say_dependencies(report, writer);
    say_barriers(report, writer);
    say_buffers(report, writer);
    say_aliases(report, writer);
    say_deadlocks(report, writer);
    say_coverage(report, writer);
    say_limits(report, writer);
}
