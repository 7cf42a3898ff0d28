/* Escapes, links and sections of an HTML page. */
#include "render/html/html.h"

#include <ctype.h>
#include <stdlib.h>
#include <strings.h>

/* ---- Texts ------------------------------------------------------------------------------------ */

/* The next character of a text, as it may be shown. */
static Str next_character(Str text, size_t *at) {
    uint32_t character = 0;
    size_t size = utf8_size((Str){text.data + *at, text.size - *at}, &character);
    Str shown = {text.data + *at, size};
    if (!size || utf8_deceives(character))
        shown = STR("\xef\xbf\xbd");
    *at += size ? size : 1;
    return shown;
}

void html_text(Text *to, Str text) {
    static const char special[] = "&<>\"'";
    static const char *const entities[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"}; /* ORDER special */
    for (size_t at = 0; at < text.size;) {
        Str shown = next_character(text, &at);
        const char *found = strchr(special, shown.data[0]);
        text_str(to, found && *found ? str_of(entities[found - special]) : shown);
    }
}

bool html_said(const char *text) {
    return text && *text;
}

void html_addf(Html *html, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    text_vescapef(html->to, html_text, format, arguments);
    va_end(arguments);
}

/* ---- Lines of the IR ---------------------------------------------------------------------------- */

bool html_quote(Html *html, uint32_t line) {
    enum { CONTEXT = 2 };
    if (!html->quoted || line == 0 || line > html->source->line_count)
        return false;
    if (html->line_count + 2 * CONTEXT + 1 > HTML_MOST_LINES)
        return html->quoted[line];
    uint32_t last = html->source->line_count;
    uint32_t from = line > CONTEXT ? line - CONTEXT : 1, to = last - line > CONTEXT ? line + CONTEXT : last;
    for (uint32_t i = from; i <= to; i++) {
        html->line_count += !html->quoted[i];
        html->quoted[i] = true;
    }
    return true;
}

void html_line(Html *html, uint32_t line) {
    if (html_quote(html, line))
        text_addf(html->to, "<a class=\"ir\" href=\"#L%u\">%u</a>", line, line);
    else
        text_addf(html->to, "%u", line);
}

/* A line that is named at the start of `text`: its number, and how much of the text names it; 0 if none is. */
static uint32_t line_named(Str text, size_t *size) {
    static const char *const words[] = {"IR line ", "IR lines ", "PTX line ", "line ", "lines ", "loop@"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        Str word = str_of(words[i]);
        uint32_t number = 0;
        size_t at = word.size;
        if (!str_starts(text, word))
            continue;
        for (; at < text.size && isdigit((unsigned char)text.data[at]) && number < 100000000; at++)
            number = number * 10 + (uint32_t)(text.data[at] - '0');
        *size = at;
        return number;
    }
    return 0;
}

/* The size of what stands between two backticks at the start of `text`, with them; 0 if nothing does. */
static size_t code_size(Str text) {
    const char *end = text.size > 2 && *text.data == '`' ? memchr(text.data + 1, '`', text.size - 1) : NULL;
    return end && end > text.data + 1 ? (size_t)(end + 1 - text.data) : 0;
}

/* Code, and links to lines. */
static void add_words(Html *html, Str text) {
    size_t plain = 0, size = 0;
    for (size_t at = 0; at < text.size; at += size ? size : 1) {
        bool starts = at == 0 || !isalnum((unsigned char)text.data[at - 1]);
        Str rest = str_between(text.data + at, text.data + text.size);
        uint32_t line = starts ? line_named(rest, &size) : 0;
        size_t file = starts && !line ? html_code_named(&html->code, rest, &line, &size) : 0;
        size_t code = code_size(rest);
        if (!code && !file && (!line || !html_quote(html, line))) {
            size = 0;
            continue;
        }
        html_text(html->to, str_between(text.data + plain, text.data + at));
        if (code)
            text_str(html->to, STR("<code>"));
        else if (file)
            text_addf(html->to, "<a class=\"src\" href=\"#S%zu-%u\">", file - 1, line);
        else
            text_addf(html->to, "<a class=\"ir\" href=\"#L%u\">", line);
        size = code ? code : size;
        html_text(html->to, code ? (Str){rest.data + 1, code - 2} : (Str){rest.data, size});
        text_str(html->to, code ? STR("</code>") : STR("</a>"));
        plain = at + size;
    }
    html_text(html->to, str_between(text.data + plain, text.data + text.size));
}

void html_words(Html *html, Str text) {
    for (const char *end; (end = memchr(text.data, '\n', text.size));
         text = str_between(end + 1, text.data + text.size)) {
        add_words(html, str_between(text.data, end));
        text_str(html->to, STR("<br>"));
    }
    add_words(html, text);
}

/* ---- The glossary ------------------------------------------------------------------------------ */

static bool is_letter(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '%' || c == '-' || c == '.' || (c & 0x80);
}

/* The size of the word, or its plural, at the start of `text`; 0 if it does not stand there. */
static size_t word_size(Str text, Str word) {
    if (word.size == 0 || text.size < word.size || strncasecmp(text.data, word.data, word.size) != 0)
        return 0;
    size_t size = word.size + (text.size > word.size && text.data[word.size] == 's');
    char next = size < text.size ? text.data[size] : ' ', after = size + 1 < text.size ? text.data[size + 1] : ' ';
    return !is_letter(next) || (next == '.' && !is_letter(after)) ? size : 0;
}

/* The term whose word stands at the start of `text`, the longest if there are several; NULL if none does. */
static const Term *term_at(const Html *html, Str text, size_t *size) {
    const Term *found = NULL;
    *size = 0;
    for (size_t i = 0; i < html->term_count; i++) {
        size_t one = word_size(text, str_of(html->terms[i].word));
        if (one > *size) {
            *size = one;
            found = &html->terms[i];
        }
    }
    return found;
}

void html_prose(Html *html, Str text) {
    enum { MOST = 64 };
    const Term *linked[MOST];
    size_t linked_count = 0, plain = 0, at = 0;
    while (at < text.size) {
        size_t size = 0;
        Str rest = {text.data + at, text.size - at};
        const Term *term = at == 0 || !is_letter(text.data[at - 1]) ? term_at(html, rest, &size) : NULL;
        for (size_t i = 0; i < linked_count && term; i++)
            if (linked[i] == term)
                term = NULL;
        if (!term || linked_count == MOST) {
            at += size ? size : 1;
            continue;
        }
        linked[linked_count++] = term;
        add_words(html, (Str){text.data + plain, at - plain});
        html_addf(html, "<a class=\"term\" href=\"#term-%s\">", term->id);
        html_text(html->to, (Str){text.data + at, size});
        text_str(html->to, STR("</a>"));
        plain = at += size;
    }
    add_words(html, (Str){text.data + plain, at - plain});
}

/* ---- Links ------------------------------------------------------------------------------------- */

static void put(Html *html, Map *map, Str name, const void *element) {
    void **value = map_put(map, name);
    if (!value)
        html->to->failed = true;
    else if (!*value)
        *value = (void *)element;
}

/* A token or an aref is one value and two barriers, whose names tell them apart. */
static void add_ring(Html *html, const ReportBarrier *barrier) {
    bool two = strcmp(barrier->kind, "token") == 0 || strcmp(barrier->kind, "aref") == 0;
    const char *side = two ? strrchr(barrier->name, '.') : NULL;
    text_addf(&html->ring_names, "%s%s", html_said(barrier->value) ? barrier->value : barrier->name, side ? side : "");
    text_char(&html->ring_names, 0);
}

/* Keys are not copied, hence all names first. */
static void put_rings(Html *html) {
    const Report *report = html->report;
    for (size_t i = 0; i < report->barrier_count; i++)
        add_ring(html, &report->barriers[i]);
    const char *name = html->ring_names.data;
    for (size_t i = 0; i < report->barrier_count && !html->ring_names.failed; i++, name += strlen(name) + 1)
        put(html, &html->rings, str_of(name), &report->barriers[i]);
}

void html_init(Html *html, const Report *report, const ReportHtml *what, Text *to) {
    Source *source = what->source;
    *html = (Html){.to = to, .report = report, .source = source};
    html_code_init(&html->code, report, what);
    html->terms = glossary(&html->term_count);
    put_rings(html);
    for (size_t i = 0; i < report->barrier_count; i++)
        put(html, &html->barriers, str_of(report->barriers[i].name), &report->barriers[i]);
    for (size_t i = 0; i < report->buffer_count; i++)
        put(html, &html->buffers, str_of(report->buffers[i].name), &report->buffers[i]);
    if (source)
        source_place(source, 0); /* makes the index of lines */
    if (source && source->line_starts)
        html->quoted = calloc((size_t)source->line_count + 1, sizeof *html->quoted);
}

void html_free(Html *html) {
    html_code_free(&html->code);
    map_free(&html->barriers);
    map_free(&html->buffers);
    map_free(&html->rings);
    text_free(&html->ring_names);
    free(html->quoted);
}

static long find_barrier(const Html *html, Str name) {
    const ReportBarrier *barrier = map_get(&html->barriers, name);
    return barrier ? (long)(barrier - html->report->barriers) : -1;
}

long html_ring(const Html *html, Str ring) {
    const ReportBarrier *barrier = map_get(&html->rings, ring);
    return barrier ? (long)(barrier - html->report->barriers) : -1;
}

static long find_buffer(const Html *html, Str name) {
    const ReportBuffer *buffer = map_get(&html->buffers, name);
    return buffer ? (long)(buffer - html->report->buffers) : -1;
}

static void add_link(Html *html, const char *kind, long index, Str name) {
    if (index >= 0)
        text_addf(html->to, "<a class=\"name\" href=\"#%s-%ld\">", kind, index);
    html_text(html->to, name);
    if (index >= 0)
        text_str(html->to, STR("</a>"));
}

/* A name may have a comma in it, hence the look at the whole first. */
static void add_links(Html *html, const char *kind, long (*find)(const Html *, Str), Str left) {
    bool whole = find(html, left) >= 0;
    while (left.size) {
        const char *comma = whole ? NULL : memmem(left.data, left.size, ", ", 2);
        Str name = {left.data, comma ? (size_t)(comma - left.data) : left.size};
        add_link(html, kind, find(html, name), name);
        if (!comma)
            return;
        text_str(html->to, STR(", "));
        left = str_between(comma + 2, left.data + left.size);
    }
}

void html_barriers(Html *html, Str names) {
    add_links(html, "barrier", find_barrier, names);
}

void html_buffers(Html *html, Str names) {
    add_links(html, "buffer", find_buffer, names);
}

void html_slot(Html *html, Str slot) {
    const char *bracket = memchr(slot.data, '[', slot.size);
    Str ring = {slot.data, bracket ? (size_t)(bracket - slot.data) : slot.size};
    long index = html_ring(html, ring);
    add_link(html, "barrier", index >= 0 ? index : find_barrier(html, ring), slot);
}

/* ---- Sections ---------------------------------------------------------------------------------- */

void html_section(Html *html, const char *id, const char *heading, size_t count, const char *one, Str lead) {
    html_addf(html, "<details class=\"section\" id=\"%s\" open>\n<summary><h2>%s", id, heading);
    if (*one) {
        text_str(html->to, STR("<span class=\"count\">"));
        text_number_of(html->to, count, one);
        text_str(html->to, STR("</span>"));
    }
    text_str(html->to, STR("</h2></summary>\n"));
    if (!lead.size)
        return;
    text_str(html->to, STR("<p class=\"lead\">"));
    html_prose(html, lead);
    text_str(html->to, STR("</p>\n"));
}

void html_section_end(Html *html) {
    text_str(html->to, STR("</details>\n"));
}

void html_glossary(Html *html) {
    html_section(html, "glossary", "Glossary", html->term_count, "word", STR(""));
    text_str(html->to, STR("<dl class=\"glossary\">\n"));
    for (size_t i = 0; i < html->term_count; i++) {
        const Term *term = &html->terms[i];
        html_addf(html, "<div id=\"term-%s\"><dt>%s</dt><dd>%s</dd></div>\n", term->id, term->word, term->text);
    }
    text_str(html->to, STR("</dl>\n"));
    html_section_end(html);
}

void html_excerpts(Html *html) {
    if (!html->line_count)
        return;
    html_addf(html,
              "<details class=\"section\" id=\"excerpts\"><summary><h2>Lines of %s<span "
              "class=\"count\">%zu quoted</span></h2></summary>\n",
              html->report->ptx ? "PTX" : "the IR", html->line_count);
    html_quoted_lines(html);
    html_section_end(html);
}
