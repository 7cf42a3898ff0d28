/* The sections of the HTML report, as tables that fold. */
#ifndef RENDER_HTML_SECTIONS_H
#define RENDER_HTML_SECTIONS_H

#include "render/html.h"

/* A section's start: a fold that is open, with a heading, "3 barriers" beside it if `one` is not "", and a sentence
 * about it. */
void html_section(Html *html, const char *id, const char *heading, size_t count, const char *one, const char *lead);
void html_section_end(Html *html);

void html_partitions(Html *html);
void html_dependencies(Html *html);
void html_index_and_phase(Html *html);
void html_shared_data(Html *html);
void html_aliases(Html *html);
void html_deadlocks(Html *html);
void html_coverage(Html *html);
/* Rows of it whose order is missing. */
size_t html_missing(const Report *report);
void html_limits(Html *html);
void html_glossary(Html *html);
/* The lines of the IR that were quoted until now. */
void html_excerpts(Html *html);

#endif
