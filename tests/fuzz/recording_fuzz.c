/* Any bytes as a recording: it is read, or refused with a sentence; and one that was read is played to a verdict and
 * drawn, whatever its records say, without a fault. */
#include "check/replay/recording.h"
#include "instrument/instrument.h"
#include "ptx/reader.h"
#include "render/report/report.h"
#include "render/report/report_json.h"
#include "said.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LARGEST_INPUT = 64 << 10, BUDGET = 256 << 20, MOST_CTAS = 4096 };

/* With the table that this build makes of its PTX: else hardly any would be played. */
static void give_table(PtxModule *module, uint32_t entry, Recording *recording, Text *table) {
    Sites sites;
    const char *problem = NULL;
    InstrumentOptions options = instrument_options_of(recording->launch.spaces, recording->launch.options);
    if (!instrument_sites(&sites, module, &options, &problem))
        return;
    instrument_table(module, entry, recording->launch.block, &sites, table);
    recording->sites = (Str){table->data, table->size};
    instrument_sites_free(&sites);
}

static void say_report(const Report *report, const Trace *trace, Source *source) {
    Text texts[3] = {{0}};
    render_report_text(report, (ReportTextOptions){.width = 80}, &texts[0]);
    render_report_html(report, &(ReportHtml){trace, source, NULL}, &texts[1]);
    JsonSeries reports = render_json_begin(&texts[2], "0", "reports", true);
    render_json_report(&reports, report);
    render_json_end(&reports, NULL, NULL);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        text_free(&texts[i]);
}

static void check(PtxModule *module, const Recording *made) {
    Arena arena;
    Report report;
    Trace trace;
    Recording given = *made, *recording = &given;
    Text table = {0};
    uint32_t entry = recording_entry(module, recording);
    if (entry == PTX_NONE)
        return;
    if (recording->launch.tag & 1) /* not always */
        give_table(module, entry, recording, &table);
    arena_init(&arena, BUDGET);
    Verdict verdict = {.arena = &arena, .kernel = "fuzz"};
    ThreadsOptions options = {.only_launch = true};
    recording_report(module, entry, recording, &options, &verdict, &report, &trace);
    verdict_close(&verdict);
    say_verdict(&verdict, module->source);
    say_report(&report, &trace, module->source);
    arena_free(&arena);
    text_free(&table);
}

static void play(const Recording *recording) {
    const uint32_t *grid = recording->launch.grid;
    if ((uint64_t)grid[0] * grid[1] * grid[2] > MOST_CTAS)
        return;
    Source *source = source_copy("fuzz", recording->ptx.data, recording->ptx.size);
    PtxModule module;
    Diagnostics diagnostics = {0};
    if (!source)
        abort();
    if (ptx_read(&module, source, false, &diagnostics))
        check(&module, recording);
    ptx_free(&module);
    diagnostics_free(&diagnostics);
    source_free(source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Arena arena;
    Recording recording;
    const char *problem = NULL;
    jmp_buf here;
    if (size > LARGEST_INPUT)
        return 0;
    arena_init(&arena, BUDGET);
    arena.exhausted = &here;
    if (setjmp(here)) { /* packed chunks may be many */
        arena_free(&arena);
        return 0;
    }
    if (recording_read(&recording, data, size, &arena, &problem) && recording_open(&recording, &arena, &problem)) {
        if (recording.ptx.size)
            play(&recording);
    } else if (!problem || !*problem) {
        abort();
    }
    arena_free(&arena);
    return 0;
}
