/* What commands do around their work: a context, an output, every input, and the end of it all. */
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

bool session_open(Session *session, Options *options, const char *doing) {
    session->options = options;
    session->weir = weir_create();
    session->output = output_open(options->output);
    session->also = options->has_also ? output_open(NULL) : NULL;
    session->progress = progress_start();
    session->progress.files = options->inputs.count;
    session->reporter = reporter_start(options, progress_write_error, &session->progress);
    session->reporter.doing = doing;
    options->run.progress = progress_show;
    options->run.progress_context = &session->progress;
    if (session->weir && session->output && (session->also || !options->has_also))
        return true;
    weir_destroy(session->weir);
    return false;
}

void session_how(Session *session, weir_subject subject) {
    Reporter *reporter = &session->reporter;
    reporter->how.subject = subject;
    reporter->how.format = session->options->format;
    reporter->how.source_root = session->options->run.source_root;
    reporter->how.shard = session->options->shard_number;
    reporter->how.shards = session->options->shard_count;
    reporter->how.inputs = session->options->all_inputs;
    reporter->how.launches = session->options->program_launches;
    reporter->how.covered = session->options->program_covered;
    reporter->also_how = reporter->how;
    reporter->also_how.format = session->options->also;
    reporter->also_how.flags &= ~WEIR_COLOR;
    reporter->also_how.flags |= color_wanted(session->options, STDOUT_FILENO, NULL) ? WEIR_COLOR : 0;
}

bool session_write(Session *session, weir_subject subject) {
    Reporter *reporter = &session->reporter;
    session_how(session, subject);
    bool writes = !session->options->quiet && !session->options->emit;
    if (writes)
        reporter->writer = weir_writer_begin(&reporter->how, output_write, session->output);
    if (writes && session->options->has_also)
        reporter->also = weir_writer_begin(&reporter->also_how, output_write, session->also);
    if (writes && (!reporter->writer || (session->options->has_also && !reporter->also)))
        return false;
    report_unread(reporter);
    return true;
}

void session_inputs(Session *session, ModuleWork *work) {
    Progress *progress = &session->progress;
    for (; progress->file < progress->files; progress->file++) {
        const char *path = session->options->inputs.items[progress->file];
        if (progress_due(progress))
            fprintf(stderr, "file %zu of %zu: %.100s", progress->file + 1, progress->files, path);
        report_modules(&session->reporter, session->weir, path, work, session);
    }
    progress_clear(progress);
    report_passed_over(&session->reporter);
}

void session_report(Session *session, const char *path, weir_result *result) {
    progress_clear(&session->progress);
    report_result(&session->reporter, path, result);
}

int session_emit(Session *session, weir_result *result, unsigned flags) {
    progress_clear(&session->progress);
    if (!report_verdict(&session->reporter, result))
        session->reporter.verdict = WEIR_VERDICT_ERROR;
    if (weir_result_verdict(result) == WEIR_VERDICT_ERROR || session->options->quiet)
        return 0;
    if (session->emitted++)
        output_printf(session->output, "\n// -----\n\n");
    return weir_emit(result, flags, output_write, session->output);
}

int session_close(Session *session, bool good, bool keep) {
    Reporter *reporter = &session->reporter;
    if (reporter->writer)
        good &= weir_writer_end(reporter->writer) == 0;
    if (reporter->also)
        good &= weir_writer_end(reporter->also) == 0;
    if (session->also)
        good &= output_close(session->also, good);
    good &= output_close(session->output, good && keep);
    if (session->options->project)
        good &= project_close(session->options, good);
    weir_verdict verdict = good ? reporter->verdict : WEIR_VERDICT_ERROR;
    reporter_free(reporter);
    weir_destroy(session->weir);
    return weir_verdict_status(verdict);
}
