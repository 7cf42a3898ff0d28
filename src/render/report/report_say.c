/* The names of the sections, and what they are put together from. */
#include "render/report/report_say.h"

/* ORDER SectionId */
static const ReportSection sections[] = {
    {"partitions", "1. Partitions",
     "A [partition] is a group of warps that runs its own program ([warp specialization|warp-specialization]).",
     "no partitions", "partition", 0},
    {"dependencies", "2. Dependencies", "An edge leads from an [arrive] to the [wait] that it releases.",
     "no edges between partitions", "edge", 0},
    {"phases", "3. Index and phase",
     "A [wait] for [parity] P blocks while the [phase] bit of its [slot] is P; the bit starts at 0. "
     "[accumCnt|accumcnt] counts the uses of a [ring].",
     "no barriers", "barrier", 4},
    {"shared", "4. Shared data",
     "What [partitions|partition] share: what writes it, what reads it, and what orders them.", "no shared data",
     "buffer", 0},
    {"aliases", "5. Aliases", "All values that refer to the same barrier or buffer, and where they are used.",
     "no aliases", "group", 4},
    {"deadlocks", "6. Deadlocks", "Decided by running the [phases|phase], not by counting arrives and waits.", "",
     "deadlock", 0},
    {"coverage", "7. Coverage",
     "What is overwritten, and whether every reader is done by then, in every schedule ([happens-before]).",
     "nothing is overwritten", "table", 6},
    {"limits", "Limits", "What the kernel uses of an SM's resources.", "", "limit", 0},
};

const ReportSection *report_section_list(size_t *count) {
    *count = LENGTH(sections);
    return sections;
}

static const Anchor nowhere = {0};

void say_section(ReportWriter *writer, SectionId id, size_t count, const char *why_empty) {
    const ReportSection *section = &sections[id];
    const char *nothing = count ? "" : *why_empty ? why_empty : section->nothing;
    writer->section(writer, section, *nothing ? "" : section->sentence, count);
    if (*nothing)
        writer->line(writer, TONE_PLAIN, str_of(nothing), nowhere);
}

Str say_taken(ReportWriter *writer) {
    Str text = {writer->text.size ? writer->text.data : "", writer->text.size};
    writer->failed |= writer->text.failed;
    writer->text.size = 0;
    return text;
}

void say(ReportWriter *writer, const char *key, Tone tone) {
    writer->entry(writer, key, IS_WORDS, tone, say_taken(writer));
}

void say_line(ReportWriter *writer, Tone tone) {
    writer->line(writer, tone, say_taken(writer), nowhere);
}

void say_content(ReportWriter *writer, const char *key, Content content, const char *text) {
    if (*text)
        writer->entry(writer, key, content, TONE_PLAIN, str_of(text));
}

void say_toned(ReportWriter *writer, const char *key, Tone tone, const char *text) {
    if (*text)
        writer->entry(writer, key, IS_WORDS, tone, str_of(text));
}

void say_text(ReportWriter *writer, const char *key, const char *text) {
    say_toned(writer, key, TONE_PLAIN, text);
}

void say_found(ReportWriter *writer, const Finding *const *found, size_t count) {
    for (size_t i = 0; i < count; i++) {
        Tone tone;
        const char *word = report_severity(found[i], &tone);
        if (writer->about_it) {
            writer->about_it(writer, found[i]);
            continue;
        }
        report_mention(&writer->about, found[i], &writer->text);
        say(writer, word, tone);
    }
}

void say_table(ReportWriter *writer, Table *table) {
    writer->failed |= table->text.failed;
    if (!writer->failed)
        writer->table(writer, table);
    table_free(table);
}
