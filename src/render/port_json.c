/* A port for programs. */
#include "render/json.h"
#include "render/port.h"

#include <inttypes.h>

static void add_integer(Text *to, const char *key, int64_t number) {
    text_addf(to, ", \"%s\": %" PRId64, key, number);
}

static void add_op(Text *to, const PortOp *op) {
    render_json_text(to, "{", "op", op->op);
    render_json_text(to, ", ", "class", op->class);
    render_json_text(to, ", ", "form", op->form);
    render_json_text(to, ", ", "remark", op->remark);
    text_addf(to, ", \"lines\": [");
    for (size_t i = 0; i < op->line_count; i++)
        text_addf(to, "%s%u", i ? ", " : "", op->lines[i]);
    text_addf(to, "]}");
}

static void add_wait(Text *to, const PortWait *wait) {
    text_addf(to, "{\"ir_line\": %u", wait->ir_line);
    render_json_text(to, ", ", "op", wait->op);
    render_json_text(to, ", ", "file", wait->file);
    render_json_number(to, "line", wait->line);
    render_json_text(to, ", ", "asked", wait->asked);
    render_json_text(to, ", ", "counter", wait->counter);
    add_integer(to, "count", wait->count);
    add_integer(to, "written", wait->written);
    render_json_text(to, ", ", "cover", wait->written < 0 ? "" : port_cover_name(wait->cover));
    render_json_text(to, ", ", "more", wait->more);
    text_char(to, '}');
}

PortJson render_port_json_begin(Text *to, const char *version) {
    render_json_text(to, "{", "tool", "weir");
    render_json_text(to, ", ", "version", version);
    text_addf(to, ",\n \"kernels\": [");
    return (PortJson){.to = to};
}

void render_port_json_add(PortJson *json, const PortReport *report) {
    Text *to = json->to;
    render_json_separate(to, json->count++, 2);
    render_json_text(to, "{", "file", report->file);
    render_json_text(to, ", ", "kernel", report->function);
    render_json_text(to, ", ", "target", report->target);
    render_json_text(to, ", ", "verdict", verdict_kind_name(report->verdict));
    render_json_text(to, ", ", "problem", report->problem);
    render_json_number(to, "wave_threads", report->wave_threads);
    render_json_number(to, "warp_threads", report->warp_threads);
    add_integer(to, "shared_bytes", report->shared_bytes);
    add_integer(to, "shared_limit", report->shared_limit);
    render_json_number(to, "exact", report->exact);
    render_json_number(to, "stage_level", report->staged);
    render_json_number(to, "none", report->none);
    render_json_number(to, "not_known", report->unknown);
    render_json_number(to, "plain", report->plain);
    text_addf(to, ",\n   \"ops\": [");
    for (size_t i = 0; i < report->op_count; i++) {
        render_json_separate(to, i, 4);
        add_op(to, &report->ops[i]);
    }
    text_addf(to, "],\n   \"waits\": [");
    for (size_t i = 0; i < report->wait_count; i++) {
        render_json_separate(to, i, 4);
        add_wait(to, &report->waits[i]);
    }
    text_addf(to, "]}");
    json->verdict = verdict_worse(json->verdict, report->verdict);
}

void render_port_json_end(PortJson *json) {
    render_json_text(json->to, "],\n ", "verdict", verdict_kind_name(json->verdict));
    text_addf(json->to, "}\n");
}
