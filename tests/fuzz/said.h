/* What a fuzz target does with a verdict: it is put into words and into JSON, whatever it says. */
#ifndef FUZZ_SAID_H
#define FUZZ_SAID_H

#include "render/json.h"
#include "render/text.h"

static inline void say_verdict(const Verdict *verdict, Source *source) {
    Text text = {0}, object = {0};
    render_text(verdict, source, (TextOptions){.launches = true}, &text);
    JsonSeries report = render_json_begin(&object, "0", "inputs", false);
    render_json_input(&report, "fuzz", verdict, NULL);
    render_json_end(&report, NULL, NULL);
    text_free(&text);
    text_free(&object);
}

#endif
