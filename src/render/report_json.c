/* Barrier reports as JSON, in the order of their sections. */
#include "render/report_json.h"

#include "render/json.h"

#include <inttypes.h>

/* ---- Members --------------------------------------------------------------------------------- */

/* A text after the one before it. */
static void add(Text *to, const char *key, const char *text) {
    render_json_text(to, ", ", key, text);
}

/* A text on a line of its own. */
static void add_line(Text *to, const char *key, const char *text) {
    render_json_text(to, ",\n   ", key, text);
}

/* A number of which -1 says that it is not known. */
static void add_known(Text *to, const char *key, int64_t number) {
    if (number == -1)
        text_addf(to, ", \"%s\": null", key);
    else
        text_addf(to, ", \"%s\": %" PRId64, key, number);
}

static void add_signed(Text *to, const char *key, int64_t number) {
    text_addf(to, ", \"%s\": %" PRId64, key, number);
}

static void add_truth(Text *to, const char *key, bool truth) {
    text_addf(to, ", \"%s\": %s", key, truth ? "true" : "false");
}

static void begin_list(Text *to, int indent, const char *key) {
    text_addf(to, ",\n%*s\"%s\": [", indent, "", key);
}

static void end_list(Text *to) {
    text_char(to, ']');
}

static void add_texts(Text *to, int indent, const char *key, const char *const *texts, size_t count) {
    begin_list(to, indent, key);
    for (size_t i = 0; i < count; i++) {
        text_addf(to, "%s", i ? ", " : "");
        render_json_string(to, texts[i]);
    }
    end_list(to);
}

/* ---- What the sections share ----------------------------------------------------------------- */

static void add_place_members(Text *to, const ReportPlace *place) {
    render_json_text(to, "", "partition", place->partition);
    add(to, "op", place->op);
    add(to, "detail", place->detail);
    add(to, "file", place->file);
    render_json_number(to, "line", place->line);
    render_json_number(to, "column", place->column);
    render_json_number(to, "ir_line", place->ir_line);
    render_json_number(to, "times", place->times);
}

static void add_place(Text *to, const ReportPlace *place) {
    text_char(to, '{');
    add_place_members(to, place);
    text_char(to, '}');
}

/* A place as a member, on a line of its own. */
static void add_place_line(Text *to, int indent, const char *key, const ReportPlace *place) {
    text_addf(to, ",\n%*s\"%s\": ", indent, "", key);
    add_place(to, place);
}

static void add_places(Text *to, int indent, const char *key, const ReportPlace *places, size_t count) {
    begin_list(to, indent, key);
    for (size_t i = 0; i < count; i++) {
        render_json_separate(to, i, indent + 1);
        add_place(to, &places[i]);
    }
    end_list(to);
}

static void add_aliases(Text *to, int indent, const ReportAlias *aliases, size_t count) {
    begin_list(to, indent, "aliases");
    for (size_t i = 0; i < count; i++) {
        const ReportAlias *alias = &aliases[i];
        render_json_separate(to, i, indent + 1);
        render_json_text(to, "{", "value", alias->value);
        add(to, "how", alias->how);
        add(to, "partition", alias->partition);
        render_json_number(to, "ir_line", alias->ir_line);
        render_json_number(to, "level", alias->level);
        text_char(to, '}');
    }
    end_list(to);
}

/* ---- Partitions ------------------------------------------------------------------------------ */

static void add_partition(Text *to, const ReportPartition *partition) {
    render_json_text(to, "{", "name", partition->name);
    add(to, "role", partition->role);
    add(to, "type", partition->type);
    text_addf(to, ", \"key_ops\": [");
    for (size_t i = 0; i < partition->key_op_count; i++) {
        render_json_text(to, i ? ", {" : "{", "name", partition->key_ops[i].name);
        render_json_number(to, "count", partition->key_ops[i].count);
        text_char(to, '}');
    }
    end_list(to);
    add_known(to, "warps", partition->warps);
    add_known(to, "registers", partition->registers);
    add_known(to, "stage", partition->stage);
    render_json_number(to, "ir_line", partition->ir_line);
    text_char(to, '}');
}

static void add_partitions(Text *to, const Report *report) {
    begin_list(to, 3, "partitions");
    for (size_t i = 0; i < report->partition_count; i++) {
        render_json_separate(to, i, 4);
        add_partition(to, &report->partitions[i]);
    }
    end_list(to);
}

/* ---- Barriers -------------------------------------------------------------------------------- */

static void add_sites(Text *to, const char *key, const ReportSite *sites, size_t count) {
    begin_list(to, 5, key);
    for (size_t i = 0; i < count; i++) {
        const ReportSite *site = &sites[i];
        render_json_separate(to, i, 6);
        text_char(to, '{');
        add_place_members(to, &site->place);
        add(to, "mechanism", site->mechanism);
        add(to, "index", site->index);
        add(to, "phase", site->phase);
        add(to, "index_as_written", site->index_as_written);
        add(to, "phase_as_written", site->phase_as_written);
        add_signed(to, "stagger", site->stagger);
        add_signed(to, "stride", site->stride);
        add_known(to, "first_parity", site->first_parity);
        add_truth(to, "passes_at_once", site->passes_at_once);
        add_known(to, "amount", site->amount);
        text_char(to, '}');
    }
    end_list(to);
}

static void add_bytes(Text *to, const ReportBarrier *barrier) {
    add_known(to, "expect_bytes", barrier->expect_bytes);
    add_known(to, "data_bytes", barrier->data_bytes);
    text_addf(to, ", \"bytes\": [");
    for (size_t i = 0; i < barrier->byte_count; i++) {
        const ReportBytes *bytes = &barrier->bytes[i];
        render_json_text(to, i ? ", {" : "{", "name", bytes->name);
        add(to, "text", bytes->text);
        add_known(to, "bytes", bytes->bytes);
        render_json_number(to, "ir_line", bytes->ir_line);
        text_char(to, '}');
    }
    end_list(to);
}

static void add_barrier(Text *to, const ReportBarrier *barrier) {
    render_json_text(to, "{", "name", barrier->name);
    add(to, "value", barrier->value);
    add(to, "kind", barrier->kind);
    add(to, "mechanism", barrier->mechanism);
    add(to, "direction", barrier->direction);
    add_known(to, "depth", barrier->depth);
    add_known(to, "count", barrier->count);
    add(to, "participants", barrier->participants);
    render_json_text(to, ",\n     ", "index", barrier->index);
    add(to, "phase", barrier->phase);
    add_truth(to, "inverted", barrier->inverted);
    add(to, "offset", barrier->offset);
    add_bytes(to, barrier);
    render_json_number(to, "iterations", barrier->iterations);
    render_json_number(to, "flips", barrier->flips);
    add(to, "cadence", barrier->cadence);
    add_sites(to, "arrives", barrier->arrives, barrier->arrive_count);
    add_sites(to, "waits", barrier->waits, barrier->wait_count);
    add_places(to, 5, "others", barrier->others, barrier->other_count);
    add_texts(to, 5, "protects", barrier->protects, barrier->protect_count);
    add(to, "pair", barrier->pair);
    add_aliases(to, 5, barrier->aliases, barrier->alias_count);
    add_texts(to, 5, "issues", barrier->issues, barrier->issue_count);
    text_char(to, '}');
}

static void add_barriers(Text *to, const Report *report) {
    begin_list(to, 3, "barriers");
    for (size_t i = 0; i < report->barrier_count; i++) {
        render_json_separate(to, i, 4);
        add_barrier(to, &report->barriers[i]);
    }
    end_list(to);
}

static void add_edges(Text *to, const Report *report) {
    begin_list(to, 3, "edges");
    for (size_t i = 0; i < report->edge_count; i++) {
        const ReportEdge *edge = &report->edges[i];
        render_json_separate(to, i, 4);
        render_json_text(to, "{", "from", edge->from);
        add(to, "to", edge->to);
        add(to, "barrier", edge->barrier);
        add(to, "mechanism", edge->mechanism);
        add(to, "direction", edge->direction);
        add(to, "carries", edge->carries);
        add(to, "note", edge->note);
        add_place_line(to, 5, "out", &edge->out);
        add_place_line(to, 5, "in", &edge->in);
        text_char(to, '}');
    }
    end_list(to);
}

/* ---- Shared data ----------------------------------------------------------------------------- */

static void add_buffers(Text *to, const Report *report) {
    begin_list(to, 3, "buffers");
    for (size_t i = 0; i < report->buffer_count; i++) {
        const ReportBuffer *buffer = &report->buffers[i];
        render_json_separate(to, i, 4);
        render_json_text(to, "{", "name", buffer->name);
        add(to, "value", buffer->value);
        add(to, "space", buffer->space);
        add(to, "storage", buffer->storage);
        add_known(to, "id", buffer->id);
        add_known(to, "offset", buffer->offset);
        add_known(to, "depth", buffer->depth);
        add_known(to, "size", buffer->size);
        add_places(to, 5, "writers", buffer->writers, buffer->writer_count);
        add_places(to, 5, "readers", buffer->readers, buffer->reader_count);
        render_json_text(to, ",\n     ", "barrier", buffer->barrier);
        add_texts(to, 5, "notes", buffer->notes, buffer->note_count);
        add_aliases(to, 5, buffer->aliases, buffer->alias_count);
        text_char(to, '}');
    }
    end_list(to);
}

/* ---- Deadlocks ------------------------------------------------------------------------------- */

static void add_blocked(Text *to, const ReportBlocked *blocked) {
    text_char(to, '{');
    add_place_members(to, &blocked->place);
    add(to, "waits_for", blocked->waits_for);
    add_known(to, "parity", blocked->parity);
    add_known(to, "phase", blocked->phase);
    add_known(to, "pending", blocked->pending);
    add_signed(to, "bytes", blocked->bytes);
    add_known(to, "flips", blocked->flips);
    add(to, "why", blocked->why);
    add_places(to, 7, "could", blocked->could, blocked->could_count);
    text_char(to, '}');
}

static void add_deadlock(Text *to, const ReportDeadlock *deadlock) {
    render_json_text(to, "{", "rule", deadlock->rule);
    add(to, "message", deadlock->message);
    add(to, "why", deadlock->why);
    add(to, "fix", deadlock->fix);
    add(to, "schedule", deadlock->schedule);
    add(to, "launch", deadlock->launch);
    begin_list(to, 5, "blocked");
    for (size_t i = 0; i < deadlock->blocked_count; i++) {
        render_json_separate(to, i, 6);
        add_blocked(to, &deadlock->blocked[i]);
    }
    end_list(to);
    text_char(to, '}');
}

static void add_deadlocks(Text *to, const Report *report) {
    add_line(to, "deadlock_verdict", report->deadlock_verdict);
    add(to, "deadlock_reason", report->deadlock_reason);
    begin_list(to, 3, "deadlocks");
    for (size_t i = 0; i < report->deadlock_count; i++) {
        render_json_separate(to, i, 4);
        add_deadlock(to, &report->deadlocks[i]);
    }
    end_list(to);
    begin_list(to, 3, "candidates");
    for (size_t i = 0; i < report->candidate_count; i++) {
        const ReportCandidate *candidate = &report->candidates[i];
        render_json_separate(to, i, 4);
        render_json_text(to, "{", "barrier", candidate->barrier);
        add(to, "counts", candidate->counts);
        add(to, "verdict", candidate->verdict);
        add(to, "why", candidate->why);
        add_places(to, 5, "places", candidate->places, candidate->place_count);
        text_char(to, '}');
    }
    end_list(to);
}

/* ---- Coverage -------------------------------------------------------------------------------- */

static void add_row(Text *to, const ReportRow *row) {
    static const char *const states[] = {"ordered", "missing", "planned", "unseen"};
    static const char *const ordered[] = {"true", "false", "null", "null"}; /* both: ORDER ReportOrder */
    render_json_text(to, "{", "columns", row->extent);
    add(to, "name", row->name);
    add(to, "consumer", row->consumer);
    add(to, "cadence", row->cadence);
    add(to, "state", states[row->order]);
    text_addf(to, ", \"ordered\": %s", ordered[row->order]);
    add(to, "by", row->by);
    render_json_number(to, "times", row->times);
    add_place_line(to, 7, "read", &row->read);
    text_char(to, '}');
}

static void add_coverage(Text *to, const Report *report) {
    begin_list(to, 3, "coverage");
    for (size_t i = 0; i < report->coverage_count; i++) {
        const ReportCoverage *coverage = &report->coverage[i];
        render_json_separate(to, i, 4);
        render_json_text(to, "{", "storage", coverage->storage);
        add(to, "owner", coverage->owner);
        add(to, "extent", coverage->extent);
        add_truth(to, "whole", coverage->whole);
        add_place_line(to, 5, "writer", &coverage->writer);
        begin_list(to, 5, "rows");
        for (size_t k = 0; k < coverage->row_count; k++) {
            render_json_separate(to, k, 6);
            add_row(to, &coverage->rows[k]);
        }
        end_list(to);
        text_char(to, '}');
    }
    end_list(to);
    add_line(to, "coverage_note", report->coverage_note);
}

static void add_limits(Text *to, const Report *report) {
    begin_list(to, 3, "limits");
    for (size_t i = 0; i < report->limit_count; i++) {
        render_json_separate(to, i, 4);
        render_json_text(to, "{", "name", report->limits[i].name);
        add(to, "unit", report->limits[i].unit);
        add_known(to, "used", report->limits[i].used);
        add_known(to, "most", report->limits[i].most);
        text_char(to, '}');
    }
    end_list(to);
}

/* ---- All of it ------------------------------------------------------------------------------- */

static void add_head(Text *to, const char *version) {
    render_json_text(to, "{", "tool", "weir");
    add(to, "version", version);
}

void render_json_report(const Report *report, const char *version, Text *to) {
    add_head(to, version);
    render_json_verdict(to, ",\n   ", report->file, report->verdict, NULL);
    add_line(to, "module", report->module);
    add_line(to, "form", report->form);
    add(to, "form_text", report->form_text);
    add_line(to, "target", report->target);
    add(to, "nothing", report->nothing);
    add(to, "launch", report->launch);
    render_json_number(to, "cluster", report->cluster);
    add_partitions(to, report);
    add_barriers(to, report);
    add_edges(to, report);
    add_buffers(to, report);
    add_deadlocks(to, report);
    add_coverage(to, report);
    add_limits(to, report);
    text_char(to, '}');
}

JsonReports render_json_reports_begin(Text *to, const char *version) {
    return (JsonReports){.to = to, .version = version};
}

static void release_first(JsonReports *reports) {
    text_add(reports->to, reports->first.data ? reports->first.data : "", reports->first.size);
    reports->to->failed |= reports->first.failed;
    text_free(&reports->first);
}

void render_json_reports_add(JsonReports *reports, const Report *report) {
    size_t index = reports->count++;
    if (index == 0) {
        render_json_report(report, reports->version, &reports->first);
        return;
    }
    if (index == 1) {
        add_head(reports->to, reports->version);
        text_addf(reports->to, ",\n \"reports\": [\n  ");
        release_first(reports);
    }
    render_json_separate(reports->to, index, 2);
    render_json_report(report, reports->version, reports->to);
}

void render_json_reports_end(JsonReports *reports) {
    if (reports->count == 0) {
        add_head(reports->to, reports->version);
        text_addf(reports->to, ",\n \"reports\": [");
    }
    if (reports->count == 1)
        release_first(reports);
    text_addf(reports->to, "%s\n", reports->count == 1 ? "" : "]}");
}
