/* Just enough of the syntax of Python, and of C++, to know comments from strings, and where a function ends. */
#include "config/comments.h"

#include "base/code.h"
#include "finding/finding.h"

#include <ctype.h>

typedef struct CommentFunction {
    uint32_t first, last, indent;
} CommentFunction;

typedef struct Scan {
    Arena *arena;
    SuppressionList *list;
    const char *at, *end;
    uint32_t line;
    uint32_t pending; /* of the list: the first whose line of code is still to come */
    uint32_t nested;  /* brackets that are open: the next line goes on with this one */
    bool code;        /* on this line, so far */
    bool cpp;
    /* Of C++: brackets of blocks that are open, the last character of code, and where its declaration begins. */
    uint32_t blocks, declaration;
    char last;
    /* All functions so far; `open` has those that have not ended, from the outermost on. */
    CommentFunction *functions;
    uint32_t function_count, function_capacity;
    uint32_t *open;
    uint32_t open_count, open_capacity;
    uint32_t *owners; /* of each suppression: the number of its function, from 1; 0: none */
    uint32_t owner_count, owner_capacity;
} Scan;

/* ---- What a comment says ------------------------------------------------------------------------- */

static Str trimmed(Str text) {
    while (text.size && (*text.data == ' ' || *text.data == '\t'))
        text = (Str){text.data + 1, text.size - 1};
    while (text.size && strchr(" \t\r", text.data[text.size - 1]))
        text.size--;
    return text;
}

/* "a, b" as "a,b". */
static const char *without_blanks(Arena *arena, Str rules) {
    char *copy = arena_copy(arena, rules.data, rules.size);
    size_t kept = 0;
    for (size_t i = 0; i < rules.size; i++)
        if (rules.data[i] != ' ' && rules.data[i] != '\t')
            copy[kept++] = rules.data[i];
    copy[kept] = 0;
    return copy;
}

static const char *unknown_rule(Arena *arena, Str name) {
    Str meant = rule_near(name);
    Text text = {0};
    text_addf(&text, "there is no rule '");
    text_add_plain(&text, utf8_cut(name, 80));
    text_addf(&text, "'");
    if (meant.data)
        text_addf(&text, "; did you mean '%.*s'?", STR_ARG(meant));
    return text_keep(&text, arena);
}

/* Why it is not honored; NULL: it is. */
static const char *problem_of(Arena *arena, const Suppression *suppression) {
    if (!*suppression->rules)
        return "it names no rule, as ignore[race.war] does";
    Str unknown = rule_list_unknown(suppression->rules);
    if (unknown.data)
        return unknown_rule(arena, unknown);
    return *suppression->reason ? NULL : "it gives no reason";
}

/* What follows "weir:" in a comment; false: it is prose. */
static bool read_directive(Arena *arena, Str text, bool cpp, Suppression *to) {
    text = trimmed(text);
    size_t word = 0;
    while (word < text.size && ((text.data[word] >= 'a' && text.data[word] <= 'z') || text.data[word] == '-'))
        word++;
    bool ignore = str_is((Str){text.data, word}, "ignore"), list = word < text.size && text.data[word] == '[';
    const char *closed = list ? memchr(text.data, ']', text.size) : NULL;
    if (!ignore && !list)
        return false;
    Str rules = {"", 0}, reason = {text.data + word, text.size - word};
    if (closed) {
        rules = str_between(text.data + word + 1, closed);
        reason = str_between(closed + 1, text.data + text.size);
    }
    while (reason.size && strchr(" \t:-", *reason.data))
        reason = (Str){reason.data + 1, reason.size - 1};
    to->rules = without_blanks(arena, rules);
    to->reason = arena_copy(arena, reason.data, reason.size);
    to->problem = ignore ? problem_of(arena, to)
                  : cpp  ? "it is not of the form '// weir: ignore[RULE] reason'"
                         : "it is not of the form '# weir: ignore[RULE] reason'";
    return true;
}

/* A comment, from its '#' or its second '/' or '*' on; it may hold another, as in `# noqa # weir: ignore[...] ...`. */
static bool read_comment(Arena *arena, Str comment, bool cpp, Suppression *to) {
    char mark = cpp ? '/' : '#';
    while (comment.size) {
        Str rest = trimmed((Str){comment.data + 1, comment.size - 1});
        if (str_starts(rest, STR("weir:")))
            return read_directive(arena, (Str){rest.data + 5, rest.size - 5}, cpp, to);
        const char *next = memchr(comment.data + 1, mark, comment.size - 1);
        comment = next ? str_between(next, comment.data + comment.size) : (Str){"", 0};
    }
    return false;
}

/* ---- Lines --------------------------------------------------------------------------------------- */

static uint32_t innermost(const Scan *scan) {
    return scan->open_count ? scan->open[scan->open_count - 1] + 1 : 0;
}

/* A statement begins with `def` or `async def`. */
static bool is_function(Str text) {
    if (str_starts(text, STR("async ")))
        text = trimmed((Str){text.data + 6, text.size - 6});
    return str_starts(text, STR("def ")) || str_starts(text, STR("def\t"));
}

/* Functions end before a statement that is not further in than they are. */
static void end_functions(Scan *scan, uint32_t indent) {
    while (scan->open_count && scan->functions[scan->open[scan->open_count - 1]].indent >= indent)
        scan->functions[scan->open[--scan->open_count]].last = scan->line - 1;
}

static void start_statement(Scan *scan, uint32_t indent) {
    Str rest = str_between(scan->at, scan->end);
    end_functions(scan, indent);
    if (!is_function(rest))
        return;
    *ARENA_PUSH(scan->arena, scan->open, scan->open_count, scan->open_capacity) = scan->function_count;
    *ARENA_PUSH(scan->arena, scan->functions, scan->function_count, scan->function_capacity) =
        (CommentFunction){scan->line, UINT32_MAX, indent};
}

/* The first code of a line: comments above that wait for it are about it. */
static void start_code(Scan *scan) {
    scan->code = true;
    for (; scan->pending < scan->list->count; scan->pending++) {
        scan->list->items[scan->pending].target = scan->line;
        scan->owners[scan->pending] = innermost(scan);
    }
}

/* How far in the line's text is, which `at` is then at. */
static uint32_t skip_indent(Scan *scan) {
    uint32_t indent = 0;
    for (; *scan->at == ' ' || *scan->at == '\t' || *scan->at == '\f'; scan->at++)
        indent = *scan->at == '\t' ? (indent | 7) + 1 : indent + 1;
    return indent;
}

static const char *line_end(const Scan *scan) {
    const char *newline = memchr(scan->at, '\n', (size_t)(scan->end - scan->at));
    return newline ? newline : scan->end;
}

/* On one line: from `at` up to `end`. */
static void take_comment(Scan *scan, const char *end) {
    Suppression suppression = {.line = scan->line, .target = scan->line};
    if (read_comment(scan->arena, str_between(scan->at, end), scan->cpp, &suppression)) {
        *ARENA_PUSH(scan->arena, scan->list->items, scan->list->count, scan->list->capacity) = suppression;
        *ARENA_PUSH(scan->arena, scan->owners, scan->owner_count, scan->owner_capacity) = innermost(scan);
        if (scan->code) /* those that wait have been served when the line's code began */
            scan->pending = scan->list->count;
    }
    scan->at = end;
}

/* Past a string, whose quote `at` is at. One of a single quote ends with its line, whatever is missing. */
static void skip_string(Scan *scan) {
    char quote = *scan->at;
    bool lines = scan->at[1] == quote && scan->at[2] == quote;
    scan->at += lines ? 3 : 1;
    for (; scan->at < scan->end; scan->at++) {
        if (*scan->at == '\\' && scan->at + 1 < scan->end)
            scan->at++;
        else if (*scan->at == '\n' && !lines)
            return;
        else if (*scan->at == quote && (!lines || (scan->at[1] == quote && scan->at[2] == quote)))
            break;
        scan->line += *scan->at == '\n';
    }
    scan->at += lines ? 3 : 1;
    scan->at = scan->at < scan->end ? scan->at : scan->end;
}

static void scan_code(Scan *scan) {
    switch (*scan->at) {
    case '#':
        take_comment(scan, line_end(scan));
        return;
    case '"':
    case '\'':
        skip_string(scan);
        return;
    case '\\': /* the line goes on, or it is no Python */
        scan->at++;
        if (scan->at < scan->end) {
            scan->line += *scan->at == '\n';
            scan->at++;
        }
        return;
    default:
        scan->nested += strchr("([{", *scan->at) && *scan->at;
        scan->nested -= scan->nested && strchr(")]}", *scan->at) && *scan->at;
        scan->at++;
    }
}

/* ---- C++ ----------------------------------------------------------------------------------------- */

/* Up to its end, which is on another line, maybe; what it says of Weir is on its first. */
static void take_block_comment(Scan *scan) {
    const char *close = memmem(scan->at + 2, (size_t)(scan->end - scan->at - 2), "*/", 2);
    const char *stop = close ? close : scan->end, *newline = line_end(scan);
    scan->at++;
    take_comment(scan, newline < stop ? newline : stop);
    for (; scan->at < stop; scan->at++)
        scan->line += *scan->at == '\n';
    scan->at = close ? close + 2 : scan->end;
}

/* A string or a character; one that is not closed ends with its line. */
static void skip_text(Scan *scan) {
    char quote = *scan->at++;
    for (; scan->at < scan->end && *scan->at != '\n' && *scan->at != quote; scan->at++)
        if (*scan->at == '\\' && scan->at + 1 < scan->end && scan->at[1] != '\n')
            scan->at++;
    scan->at += scan->at < scan->end && *scan->at == quote;
}

/* R"mark( ... )mark", whose R `at` is behind. */
static void skip_raw_text(Scan *scan) {
    const char *open = memchr(scan->at, '(', (size_t)(line_end(scan) - scan->at));
    Text mark = {0};
    if (open) {
        text_char(&mark, ')');
        text_str(&mark, str_between(scan->at + 1, open));
        text_char(&mark, '"');
    }
    const char *close = open && !mark.failed ? memmem(open, (size_t)(scan->end - open), mark.data, mark.size) : NULL;
    const char *stop = close ? close + mark.size : line_end(scan);
    for (; scan->at < stop; scan->at++)
        scan->line += *scan->at == '\n';
    text_free(&mark);
}

/* A block behind parentheses, in no function, is one's body. */
static void open_block(Scan *scan) {
    if (scan->last == ')' && !scan->open_count) {
        *ARENA_PUSH(scan->arena, scan->open, scan->open_count, scan->open_capacity) = scan->function_count;
        *ARENA_PUSH(scan->arena, scan->functions, scan->function_count, scan->function_capacity) =
            (CommentFunction){scan->declaration, UINT32_MAX, scan->blocks};
    }
    scan->blocks++;
    scan->declaration = 0;
}

static void close_block(Scan *scan) {
    scan->blocks -= scan->blocks > 0;
    if (scan->open_count && scan->functions[scan->open[0]].indent == scan->blocks)
        scan->functions[scan->open[--scan->open_count]].last = scan->line;
    scan->declaration = 0;
}

static void scan_cpp(Scan *scan) {
    char c = *scan->at, next = scan->at + 1 < scan->end ? scan->at[1] : 0;
    if (c == '\n') {
        scan->line++;
        scan->code = false;
        scan->at++;
        return;
    }
    if (c == '/' && (next == '/' || next == '*')) {
        if (next == '*') {
            take_block_comment(scan);
            return;
        }
        scan->at++;
        take_comment(scan, line_end(scan));
        return;
    }
    if (strchr(" \t\r\f", c)) {
        scan->at++;
        return;
    }
    if (!scan->code)
        start_code(scan);
    if (!scan->declaration)
        scan->declaration = scan->line;
    bool raw = c == '"' && scan->last == 'R', separator = c == '\'' && isxdigit((unsigned char)scan->last);
    if (c == '{')
        open_block(scan);
    else if (c == '}')
        close_block(scan);
    else if (c == ';')
        scan->declaration = 0;
    scan->last = c;
    if (raw)
        skip_raw_text(scan);
    else if ((c == '"' || c == '\'') && !separator)
        skip_text(scan);
    else
        scan->at++;
}

/* One line, or several that a string or a backslash joins. */
static void scan_line(Scan *scan) {
    uint32_t indent = skip_indent(scan);
    bool blank = scan->at == scan->end || strchr("#\r\n", *scan->at);
    scan->code = false;
    if (!blank) {
        if (!scan->nested)
            start_statement(scan, indent);
        start_code(scan);
    }
    while (scan->at < scan->end && *scan->at != '\n')
        scan_code(scan);
    scan->at += scan->at < scan->end;
    scan->line++;
}

void suppressions_read(Arena *arena, const Source *source, SuppressionList *list) {
    Scan scan = {.arena = arena,
                 .list = list,
                 .at = source->data,
                 .end = source->data + source->size,
                 .line = 1,
                 .cpp = code_is_cpp(source->name)};
    if (!memmem(source->data, source->size, "weir:", 5))
        return; /* nearly all files */
    while (scan.at < scan.end)
        scan.cpp ? scan_cpp(&scan) : scan_line(&scan);
    end_functions(&scan, 0);
    for (uint32_t i = 0; i < list->count; i++) {
        CommentFunction whole = {.first = 1, .last = UINT32_MAX};
        const CommentFunction *owner = scan.owners[i] ? &scan.functions[scan.owners[i] - 1] : &whole;
        list->items[i].first = owner->first;
        list->items[i].last = owner->last;
    }
}
