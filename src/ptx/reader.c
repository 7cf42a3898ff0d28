/* Reads PTX, a statement at a time; after an error, on at the next statement. */
#include "ptx/internal.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { SMALL = 4 << 10, LARGE = 2 << 20 }; /* pages */

/* ---- Errors ------------------------------------------------------------------------------------------- */

bool ptx_fail(Reader *r, const char *at, const char *format, ...) {
    if (r->assembly)
        return false;
    va_list arguments;
    va_start(arguments, format);
    diagnostics_vadd(r->diagnostics, SEVERITY_ERROR, r->source, offset_of(r, at > r->end ? r->end : at), format,
                     arguments);
    va_end(arguments);
    return false;
}

bool fail_expected(Reader *r, const char *expected) {
    if (!next_char(r) && r->p >= r->end)
        return ptx_fail(r, r->end, "expected %s, but the text ends", expected);
    return ptx_fail(r, r->p, "expected %s", expected);
}

/* ---- Memory -------------------------------------------------------------------------------------------- */

/* What a large array needs if the rest of the text is as what was read of it, and an eighth more: so it moves seldom.
 * At most four times what it has; 0: that would be too much. */
static uint64_t foreseen(const Reader *r, uint64_t count, size_t size) {
    uint64_t read = (uint64_t)(r->p - r->base) + 1, all = count * r->source->size / read;
    all += all / 8;
    if (all > 4 * count)
        all = 4 * count;
    return all < UINT32_MAX && r->module->held + all * size <= r->budget ? all : 0;
}

/* On large pages, as in base/arena.c: most of them will be written to, and each small one costs a fault. */
static void use_large_pages(char *items, size_t bytes) {
    size_t into = (uintptr_t)items & (SMALL - 1);
    madvise(items - into, (into + bytes + SMALL - 1) & ~(size_t)(SMALL - 1), MADV_HUGEPAGE);
}

void *grown(Reader *r, void *items, uint32_t count, uint32_t *capacity, size_t size) {
    if (r->assembly)
        return arena_grown(&r->module->arena, items, count, capacity, size);
    uint64_t wanted = *capacity ? (uint64_t)*capacity + *capacity / 2 : 256;
    uint64_t likely = wanted * size >= LARGE / 8 ? foreseen(r, count, size) : 0;
    if (likely > wanted)
        wanted = likely;
    size_t more = (size_t)(wanted - *capacity) * size;
    if (wanted >= UINT32_MAX || r->module->held + more > r->budget)
        longjmp(r->exhausted, 1);
    void *larger = realloc(items, wanted * size);
    if (!larger)
        longjmp(r->exhausted, 1);
    if (wanted * size >= LARGE)
        use_large_pages(larger, wanted * size);
    r->module->held += more;
    *capacity = (uint32_t)wanted;
    memset((char *)larger + (size_t)count * size, 0, size);
    return larger;
}

PtxStatement *add_statement(Reader *r, PtxKind kind, uint32_t what, uint32_t first_operand) {
    PtxStatement *statement = PUSH(r, statements);
    *statement = (PtxStatement){.begin = r->statement_at,
                                .end = offset_of(r, r->p),
                                .what = what,
                                .first = first_operand,
                                .count = r->module->operands_count - first_operand,
                                .kind = (uint8_t)kind};
    return statement;
}

/* ---- Statements ------------------------------------------------------------------------------------------ */

/* .version, .target and .address_size are the first three, in this order; .target may stand twice. */
static bool check_head(Reader *r, uint32_t word, const char *at) {
    uint32_t before = r->head;
    r->head = word;
    if (word == WORD_version)
        return true;
    if (before == WORD_version && word != WORD_target)
        return ptx_fail(r, at, "'.target' stands behind '.version'");
    bool good = word == WORD_target         ? before == WORD_version || before == WORD_target
                : word == WORD_address_size ? before == WORD_target
                                            : true;
    return good || ptx_fail(r, at, "'%.*s' stands at the start of a module", STR_ARG(r->module->names[word].text));
}

static bool read_directive(Reader *r) {
    static ReadDirective *const readers[WORD_COUNT] = {
#define WORD(id, text, read) [WORD_##id] = read,
        PTX_WORDS(WORD)
#undef WORD
    };
    const char *at = r->p;
    Str text = take_dotted(r);
    uint32_t word = text.size ? intern(r, text) : PTX_NONE;
    if (word >= WORD_COUNT || !readers[word])
        return ptx_fail(r, at, "there is no directive '%.*s'", STR_ARG(text));
    if (!r->module->version && word != WORD_version)
        return ptx_fail(r, at, "a module starts with .version");
    if (!check_head(r, word, at))
        return false;
    if (r->in_section && (word < WORD_b8 || word > WORD_b64))
        return ptx_fail(r, at, "'%.*s' does not stand in a section", STR_ARG(text));
    if (r->header && (word < WORD_reqntid || word > WORD_abi_preserve_control) && word != WORD_pragma)
        return ptx_fail(r, at, "expected '{' or ';'");
    return readers[word](r, word);
}

static bool read_open(Reader *r) {
    const char *at = r->p++;
    const PtxStatement *before =
        r->module->statements_count ? &r->module->statements[r->module->statements_count - 1] : NULL;
    uint32_t operands = r->module->operands_count;
    if (r->header) {
        r->header = false;
        add_statement(r, PTX_OPEN, r->scope, operands);
        return end_header(r, at) && define_function(r, at);
    }
    if (r->function == PTX_NONE) {
        if (!before || before->kind != PTX_SECTION || r->in_section)
            return ptx_fail(r, at, "no function and no section starts here");
        r->in_section = true;
        add_statement(r, PTX_OPEN, PTX_NONE, operands);
        return true;
    }
    if (r->scopes_open >= MOST_DEPTH)
        return ptx_fail(r, at, "scopes are nested too deeply");
    open_scope(r);
    add_statement(r, PTX_OPEN, r->scope, operands);
    return true;
}

static bool read_close(Reader *r) {
    const char *at = r->p++;
    if ((r->function == PTX_NONE && !r->in_section) || (r->assembly && r->scopes_open == 1))
        return ptx_fail(r, at, "there is nothing to close");
    add_statement(r, PTX_CLOSE, r->scope, r->module->operands_count);
    if (r->in_section)
        r->in_section = false;
    else if (r->module->scopes[r->scope].parent == PTX_NONE)
        end_function(r);
    else
        close_scope(r);
    return true;
}

/* A function that is declared, and defined elsewhere. */
static bool read_end(Reader *r) {
    if (!r->header && !r->assembly)
        return ptx_fail(r, r->p, "there is no empty statement in PTX");
    r->p++;
    if (r->assembly)
        return true;
    add_statement(r, PTX_END, 0, r->module->operands_count);
    end_function(r);
    return true;
}

/* # 1 "kernel.cu": what a preprocessor leaves. */
static bool read_marker(Reader *r) {
    const char *at = r->p + 1;
    while (*at == ' ' || *at == '\t')
        at++;
    if (!is_class(*at, CLASS_DIGIT) && strncmp(at, "line", 4) != 0)
        return ptx_fail(r, r->p, "there is no preprocessor in PTX");
    const char *line_end = memchr(at, '\n', (size_t)(r->end - at));
    r->p = line_end ? line_end + 1 : r->end;
    return true;
}

static bool read_statement(Reader *r, char c) {
    if (!r->module->version && c != '.' && c != '#')
        return ptx_fail(r, r->p, "a module starts with .version");
    switch (c) {
    case '.':
        return read_directive(r);
    case '{':
        return read_open(r);
    case '}':
        return read_close(r);
    case ';':
        return read_end(r);
    case '#':
        return read_marker(r);
    default:
        return read_instruction(r);
    }
}

/* Steps over a string that starts behind the quote, if it ends on its line. */
static void skip_string(Reader *r) {
    const char *line_end = memchr(r->p, '\n', (size_t)(r->end - r->p));
    const char *quote = memchr(r->p, '"', (size_t)((line_end ? line_end : r->end) - r->p));
    r->p = quote ? quote + 1 : r->p;
}

/* From a '{' to behind its '}', if there is no statement between them, or if `whole`; else nothing happens. Text may be
 * looked through in vain some times, but not for each of a million braces that nothing closes. */
static bool skip_braces(Reader *r, bool whole) {
    enum { TIMES = 16 };
    const char *start = r->p;
    unsigned open = 0;
    while (r->p < r->end && r->looked_in_vain / TIMES <= r->source->size) {
        char c = next_char(r);
        if (r->p >= r->end || (c == ';' && !whole))
            break;
        r->p++;
        open += c == '{';
        if (c == '}' && --open == 0)
            return true;
        if (c == '"')
            skip_string(r);
    }
    r->looked_in_vain += (size_t)(r->p - start);
    r->p = start;
    return false;
}

/* To where the next statement may start: behind a semicolon, or at a brace that is none of a list. What stands outside
 * of functions ends with its body, if it has one. */
static void recover(Reader *r, const char *start) {
    if (r->p > start && r->p[-1] == ';')
        return; /* all of it was read */
    if (r->p == start && r->p < r->end && *r->p != '{')
        r->p++;
    bool outside = r->function == PTX_NONE && !r->in_section;
    while (r->p < r->end) {
        char c = next_char(r);
        if (r->p >= r->end || (c == '}' && !outside))
            return;
        if (c == '{') {
            if (skip_braces(r, false))
                continue;
            if (outside && !skip_braces(r, true))
                r->p = r->end;
            return;
        }
        r->p++;
        if (c == ';')
            return;
        if (c == '"')
            skip_string(r);
    }
}

static void read_all(Reader *r) {
    for (char c; (c = next_char(r)) || r->p < r->end;) {
        const char *start = r->p;
        uint32_t operands = r->module->operands_count, fixups = r->fixup_count,
                 statements = r->module->statements_count;
        r->statement_at = offset_of(r, start);
        r->brackets = 0;
        r->form = PTX_NONE;
        if (read_statement(r, c))
            continue;
        if (r->module->statements_count == statements && r->fixup_count >= fixups) {
            r->module->operands_count = operands;
            r->fixup_count = fixups;
        }
        if (r->module->statements_count == statements) {
            recover(r, start);
            if (r->assembly)
                add_statement(r, PTX_UNREAD, r->form, r->module->operands_count);
        }
        if (!r->module->version)
            return; /* whatever it is, it is no PTX: one error is enough */
    }
    if (!r->module->version)
        ptx_fail(r, r->end, "a module starts with .version");
    else if (r->head == WORD_version)
        ptx_fail(r, r->end, "'.target' stands behind '.version'");
    if (r->function != PTX_NONE || r->in_section) {
        ptx_fail(r, r->end, "the text ends within a %s", r->in_section ? "section" : "function");
        while (r->function != PTX_NONE && r->module->scopes[r->scope].parent != PTX_NONE)
            close_scope(r);
        if (r->function != PTX_NONE)
            end_function(r);
    }
    check_defined(r);
}

/* ---- A module --------------------------------------------------------------------------------------------- */

/* For a look at the first words of a text, which reports no errors. */
static Reader at_start(const Source *source) {
    return (Reader){.assembly = true, .p = source->data, .base = source->data, .end = source->data + source->size};
}

bool ptx_is(const Source *source) {
    Reader r = at_start(source);
    next_char(&r);
    return strncmp(r.p, ".version", 8) == 0 && is_class(r.p[8], CLASS_SPACE);
}

Str ptx_target_of(const Source *source) {
    Reader r = at_start(source);
    while (next_char(&r)) {
        Str word = take_dotted(&r);
        if (str_is(word, ".target"))
            return take_identifier(&r);
        r.p += !word.size;
    }
    return (Str){"", 0};
}

size_t ptx_budget(const Source *source) {
    return ((size_t)16 << 20) + 32 * source->size;
}

static void start(Reader *r) {
    static const char *const words[WORD_COUNT] = {
#define WORD(id, text, read) [WORD_##id] = text,
        PTX_WORDS(WORD)
#undef WORD
    };
    for (unsigned i = 0; i < WORD_COUNT; i++)
        intern(r, str_of(words[i]));
    start_types(r);
    r->names_of_types = r->module->names_count;
}

/* False: it takes more memory than it may. */
static bool read_text(Reader *r) {
    if (setjmp(r->exhausted) != 0)
        return false;
    r->module->arena.exhausted = r->stacks.exhausted = &r->exhausted;
    start(r);
    if (r->assembly) { /* as if it stood in a function */
        r->module->version = PTX_NEWEST;
        r->function = 0;
        *PUSH(r, functions) = (PtxFunction){.name = PTX_NONE, .body = true};
        add_operand(r, PTX_EMPTY, 0, 0); /* no statement has it: the array is never empty */
        open_scope(r);
    }
    if (r->assembly || check_characters(r))
        read_all(r);
    return true;
}

bool read_module(PtxModule *module, Source *source, Arena *assembly, bool strict, Diagnostics *diagnostics) {
    size_t budget = ptx_budget(source), errors = diagnostics->errors;
    jmp_buf *outer = assembly ? assembly->exhausted : NULL;
    Reader *r = calloc(1, sizeof *r);
    *module = (PtxModule){.source = source, .target = PTX_NONE, .address_size = 64};
    if (assembly)
        module->arena = *assembly;
    else
        arena_init(&module->arena, budget);
    if (!r) {
        diagnostics_add(diagnostics, SEVERITY_ERROR, source, 0, "there is not enough memory");
        return false;
    }
    *r = (Reader){.module = module,
                  .names.module = module,
                  .forms.module = module,
                  .source = source,
                  .diagnostics = diagnostics,
                  .strict = strict,
                  .assembly = assembly,
                  .p = source->data,
                  .base = source->data,
                  .end = source->data + source->size,
                  .scope = PTX_NONE,
                  .function = PTX_NONE,
                  .budget = budget};
    arena_init(&r->stacks, budget);
    if (!read_text(r))
        diagnostics_add(diagnostics, SEVERITY_ERROR, source, 0, "reading it takes more than %zu MB", budget >> 20);
    module->arena.exhausted = outer;
    if (assembly) {
        *assembly = module->arena;
        module->arena = (Arena){0};
    }
    arena_free(&r->stacks);
    free(r);
    return diagnostics->errors == errors;
}

bool ptx_read(PtxModule *module, Source *source, bool strict, Diagnostics *diagnostics) {
    return read_module(module, source, NULL, strict, diagnostics);
}
