/* Barrier reports as JSON, in the order of their sections. */
#include "render/report/report_json.h"

/* ---- What the sections share ----------------------------------------------------------------- */

static const JsonField place_fields[] = {JSON(ReportPlace, partition, op, detail, file, line, column, ir_line, times),
                                         {0}};

static const JsonField alias_fields[] = {JSON(ReportAlias, value, how, partition, ir_line, level), {0}};

/* ---- Partitions ------------------------------------------------------------------------------ */

static const JsonField count_fields[] = {JSON(ReportCount, name, count), {0}};

static const JsonField partition_fields[] = {
    JSON(ReportPartition, name, role, type),
    JSON_LIST(0, 0, "key_ops", ReportPartition, key_ops, key_op_count, count_fields),
    JSON_KNOWN(ReportPartition, warps, registers, stage),
    JSON(ReportPartition, ir_line),
    {0}};

/* ---- Barriers -------------------------------------------------------------------------------- */

static const JsonField site_fields[] = {
    JSON_MEMBERS(ReportSite, place, place_fields),
    JSON(ReportSite, mechanism, index, phase, part, index_as_written, phase_as_written, stagger, stride),
    JSON_KNOWN(ReportSite, first_parity),
    JSON(ReportSite, passes_at_once),
    JSON_KNOWN(ReportSite, amount),
    JSON(ReportSite, intended),
    {0}};

static const JsonField bytes_fields[] = {
    JSON(ReportBytes, name, text), JSON_KNOWN(ReportBytes, bytes), JSON(ReportBytes, ir_line), {0}};

static const JsonField barrier_fields[] = {
    JSON(ReportBarrier, name, value, kind, mechanism, direction),
    JSON_KNOWN(ReportBarrier, depth, count),
    JSON(ReportBarrier, participants),
    JSON_AT(5, ReportBarrier, index),
    JSON(ReportBarrier, phase, inverted, offset),
    JSON_KNOWN(ReportBarrier, expect_bytes, data_bytes),
    JSON_LIST(0, 0, "bytes", ReportBarrier, bytes, byte_count, bytes_fields),
    JSON(ReportBarrier, iterations, flips, intended, cadence),
    JSON_LIST(5, 6, "arrives", ReportBarrier, arrives, arrive_count, site_fields),
    JSON_LIST(5, 6, "waits", ReportBarrier, waits, wait_count, site_fields),
    JSON_LIST(5, 6, "others", ReportBarrier, others, other_count, place_fields),
    JSON_TEXTS(5, 0, ReportBarrier, protects, protect_count),
    JSON(ReportBarrier, pair),
    JSON_LIST(5, 6, "aliases", ReportBarrier, aliases, alias_count, alias_fields),
    JSON_TEXTS(5, 0, ReportBarrier, issues, issue_count),
    {0}};

static const JsonField edge_fields[] = {JSON(ReportEdge, from, to, barrier, mechanism, direction, carries, note),
                                        JSON_WITHIN(5, ReportEdge, out, place_fields),
                                        JSON_WITHIN(5, ReportEdge, in, place_fields),
                                        {0}};

/* ---- Shared data ----------------------------------------------------------------------------- */

static const JsonField buffer_fields[] = {JSON(ReportBuffer, name, value, space, storage),
                                          JSON_KNOWN(ReportBuffer, id, offset, depth, size),
                                          JSON_LIST(5, 6, "writers", ReportBuffer, writers, writer_count, place_fields),
                                          JSON_LIST(5, 6, "readers", ReportBuffer, readers, reader_count, place_fields),
                                          JSON_AT(5, ReportBuffer, barrier),
                                          JSON_TEXTS(5, 0, ReportBuffer, notes, note_count),
                                          JSON_LIST(5, 6, "aliases", ReportBuffer, aliases, alias_count, alias_fields),
                                          {0}};

/* ---- Deadlocks ------------------------------------------------------------------------------- */

static const JsonField blocked_fields[] = {JSON_MEMBERS(ReportBlocked, place, place_fields),
                                           JSON(ReportBlocked, waits_for),
                                           JSON_KNOWN(ReportBlocked, parity, phase, pending),
                                           JSON(ReportBlocked, bytes),
                                           JSON_KNOWN(ReportBlocked, flips),
                                           JSON(ReportBlocked, why, held_by),
                                           JSON_LIST(7, 8, "could", ReportBlocked, could, could_count, place_fields),
                                           {0}};

static const JsonField deadlock_fields[] = {
    JSON(ReportDeadlock, rule, message, why, fix, schedule, launch),
    JSON_LIST(5, 6, "blocked", ReportDeadlock, blocked, blocked_count, blocked_fields),
    {0}};

static const JsonField candidate_fields[] = {
    JSON(ReportCandidate, barrier, counts, verdict, why),
    JSON_LIST(5, 6, "places", ReportCandidate, places, place_count, place_fields),
    {0}};

/* ---- Coverage -------------------------------------------------------------------------------- */

static void add_state(Json *json, const char *key, const void *object) {
    static const char *const states[] = {"ordered", "missing", "planned", "unseen"}; /* ORDER ReportOrder */
    const ReportRow *row = object;
    json_text(json, key, states[row->order]);
}

static void add_ordered(Json *json, const char *key, const void *object) {
    const ReportRow *row = object;
    if (row->order == COVERAGE_ORDERED || row->order == COVERAGE_MISSING)
        json_truth(json, key, row->order == COVERAGE_ORDERED);
    else
        json_nothing(json, key);
}

static const JsonField row_fields[] = {JSON_NAMED("columns", ReportRow, extent),
                                       JSON(ReportRow, name, consumer, cadence),
                                       JSON_BY(0, "state", add_state),
                                       JSON_BY(0, "ordered", add_ordered),
                                       JSON(ReportRow, by, times),
                                       JSON_WITHIN(7, ReportRow, read, place_fields),
                                       {0}};

static const JsonField coverage_fields[] = {JSON(ReportCoverage, storage, owner, extent, whole),
                                            JSON_WITHIN(5, ReportCoverage, writer, place_fields),
                                            JSON_LIST(5, 6, "rows", ReportCoverage, rows, row_count, row_fields),
                                            {0}};

static const JsonField limit_fields[] = {JSON(ReportLimit, name, unit), JSON_KNOWN(ReportLimit, used, most), {0}};

/* ---- All of it ------------------------------------------------------------------------------- */

static void add_verdict(Json *json, const char *key, const void *object) {
    const Report *report = object;
    (void)key;
    render_json_verdict(json, report->file, report->verdict, report->witness_files);
}

static const JsonField head_fields[] = {JSON(ReportHead, verdict, rule, what, where, why, fix), {0}};

static const JsonField report_fields[] = {
    JSON_BY(3, "file", add_verdict),
    JSON_WITHIN(3, Report, head, head_fields),
    JSON(Report, hung),
    JSON_AT(3, Report, module),
    JSON_AT(3, Report, form),
    JSON(Report, form_text),
    JSON_AT(3, Report, target),
    JSON(Report, nothing, launch, cluster),
    JSON_LIST(3, 4, "partitions", Report, partitions, partition_count, partition_fields),
    JSON_LIST(3, 4, "barriers", Report, barriers, barrier_count, barrier_fields),
    JSON_LIST(3, 4, "edges", Report, edges, edge_count, edge_fields),
    JSON_LIST(3, 4, "buffers", Report, buffers, buffer_count, buffer_fields),
    JSON_AT(3, Report, deadlock_verdict),
    JSON(Report, deadlock_reason),
    JSON_LIST(3, 4, "deadlocks", Report, deadlocks, deadlock_count, deadlock_fields),
    JSON_LIST(3, 4, "candidates", Report, candidates, candidate_count, candidate_fields),
    JSON_LIST(3, 4, "coverage", Report, coverage, coverage_count, coverage_fields),
    JSON_AT(3, Report, coverage_note),
    JSON_LIST(3, 4, "limits", Report, limits, limit_count, limit_fields),
    {0}};

void render_json_report(JsonSeries *reports, const Report *report) {
    render_json_add(reports, report->verdict->kind, report_fields, report);
}
