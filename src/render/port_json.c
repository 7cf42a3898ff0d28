/* A port for programs. */
#include "render/port.h"

static void add_lines(Json *json, const char *key, const void *object) {
    const PortOp *op = object;
    json_begin_list(json, key);
    for (size_t i = 0; i < op->line_count; i++)
        json_number(json, NULL, op->lines[i]);
    json_end_list(json);
}

static const JsonField op_fields[] = {JSON(PortOp, op, class, form, remark), JSON_BY(0, "lines", add_lines), {0}};

static void add_cover(Json *json, const char *key, const void *object) {
    const PortWait *wait = object;
    json_text(json, key, wait->written < 0 ? "" : port_cover_name(wait->cover));
}

static const JsonField wait_fields[] = {JSON(PortWait, ir_line, op, file, line, asked, counter, count, written),
                                        JSON_BY(0, "cover", add_cover),
                                        JSON(PortWait, more),
                                        {0}};

static const JsonField mma_fields[] = {
    JSON(PortMma, ir_line, op, file, line, shape, now), JSON(PortMma, waves, accumulator, operands), {0}};

static void add_verdict(Json *json, const char *key, const void *object) {
    const PortReport *report = object;
    json_text(json, key, verdict_kind_name(report->verdict));
}

static const JsonField report_fields[] = {
    JSON(PortReport, file),
    JSON_NAMED("kernel", PortReport, function),
    JSON(PortReport, target),
    JSON_BY(0, "verdict", add_verdict),
    JSON(PortReport, problem, wave_threads, warp_threads, shared_bytes, shared_limit, exact),
    JSON_NAMED("stage_level", PortReport, staged),
    JSON(PortReport, none),
    JSON_NAMED("not_known", PortReport, unknown),
    JSON(PortReport, plain),
    JSON_LIST(3, 4, "ops", PortReport, ops, op_count, op_fields),
    JSON_LIST(3, 4, "waits", PortReport, waits, wait_count, wait_fields),
    JSON_LIST(3, 4, "mmas", PortReport, mmas, mma_count, mma_fields),
    {0}};

void render_port_json(JsonSeries *kernels, const PortReport *report) {
    render_json_add(kernels, report->verdict, report_fields, report);
}
