/* Reads the kernels of sound.h: one op a line, every value named once, types by the aliases that the generator writes
 * (!tile and !frozen are one tile, !ringN are N of them, !barrier is an mbarrier). Whatever it does not know it says so
 * about: nothing is passed over, since it might have been an access. */
#include "sound.h"

enum { MOST_WORDS = 40, MOST_DEPTH = 16, MOST_LABELS = 60, NAME_SLOTS = 1024, MOST_NAME = 24, FREE_BYTES = 1 << 24 };

/* Lines of text that are nothing to run. */
static const char *const passed_over[] = {"module", "tt.func", "ttg.local_dealloc", "arith.constant dense",
                                          "ttng.fence_async_shared"};

/* The ops: what they are, and which of their operands count, in the order of the line's. */
static const struct OpForm {
    const char *name;
    SoundKind kind;
    uint8_t count, operands[4];
} forms[] = {
    {"arith.constant", SOUND_CONSTANT, 0, {0}},
    {"tt.load", SOUND_ANY, 0, {0}},
    {"arith.addi", SOUND_ADD, 2, {0, 1}},
    {"arith.remsi", SOUND_REMAINDER, 2, {0, 1}},
    {"arith.cmpi", SOUND_LESS, 2, {0, 1}},
    {"arith.select", SOUND_SELECT, 3, {0, 1, 2}},
    {"ttg.local_alloc", SOUND_ALLOCATE, 0, {0}},
    {"ttg.memdesc_index", SOUND_INDEX, 2, {0, 1}},
    {"ttg.local_load", SOUND_READ, 1, {0}},
    {"ttg.local_store", SOUND_WRITE, 1, {1}},
    {"ttg.async_copy_global_to_local", SOUND_COPY_CP_ASYNC, 1, {1}},
    {"ttg.async_commit_group", SOUND_COMMIT_CP_ASYNC, 0, {0}},
    {"ttg.async_wait", SOUND_AWAIT_CP_ASYNC, 0, {0}},
    {"amdg.async_tdm_copy_global_to_local", SOUND_COPY_TDM, 1, {3}},
    {"amdg.async_tdm_copy_local_to_global", SOUND_STORE_TDM, 1, {3}},
    {"amdg.async_tdm_wait", SOUND_AWAIT_TDM, 0, {0}},
    {"ttng.async_tma_copy_local_to_global", SOUND_STORE_TMA, 1, {3}},
    {"ttng.async_tma_store_wait", SOUND_AWAIT_TMA, 0, {0}},
    {"ttng.async_tma_copy_global_to_local", SOUND_COPY_TMA, 2, {3, 4}},
    {"ttng.init_barrier", SOUND_INIT, 1, {0}},
    {"ttng.inval_barrier", SOUND_INVALIDATE, 1, {0}},
    {"ttng.barrier_expect", SOUND_EXPECT, 1, {0}},
    {"ttng.wait_barrier", SOUND_WAIT, 1, {0}},
    {"ttg.barrier", SOUND_BARRIER, 0, {0}},
    {"gpu.barrier", SOUND_BARRIER, 0, {0}},
    {"scf.if", SOUND_IF, 1, {0}},
    {"scf.execute_region", SOUND_NOTHING, 0, {0}},
    {"scf.for", SOUND_FOR, 4, {0, 1, 2, 3}},
    {"scf.yield", SOUND_YIELD, 0, {0}},
    {"cf.br", SOUND_JUMP, 0, {0}},
    {"cf.cond_br", SOUND_CHOOSE, 1, {0}},
    {"tt.return", SOUND_RETURN, 0, {0}},
};

/* A block, and what it is handed. */
typedef struct Label {
    Str name;
    uint16_t line, argument_count, arguments[SOUND_MOVES];
} Label;

typedef struct Reader {
    SoundProgram *program;
    SoundLine *line; /* the one being read */
    unsigned number;
    Str names[NAME_SLOTS];
    uint16_t values[NAME_SLOTS];
    Str result_words[MOST_WORDS], words[MOST_WORDS];
    unsigned result_count, word_count;
    char spelled[SOUND_LINES][SOUND_MOVES][MOST_NAME]; /* %r#0 of a line that defines %r:2 */
    uint16_t results[SOUND_MOVES];
    unsigned value_results;
    uint16_t open[MOST_DEPTH]; /* lines of ops whose regions are open; 0: the module's or the function's */
    unsigned depth;
    Label labels[MOST_LABELS];
    unsigned label_count;
    struct {
        uint16_t line, which;
        Str label;
    } jumps[2 * MOST_LABELS];
    unsigned jump_count;
    int32_t free_bytes;
} Reader;

static bool fail(Reader *reader, const char *problem) {
    if (!reader->program->problem) {
        reader->program->problem = problem;
        reader->program->line_count = reader->number;
    }
    return false;
}

static bool in_word(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c && strchr("_.#%^!", c) != NULL);
}

static unsigned cut(Str text, Str words[MOST_WORDS]) {
    unsigned count = 0;
    for (size_t i = 0; i < text.size && count < MOST_WORDS;) {
        size_t start = i;
        while (i < text.size && in_word(text.data[i]))
            i++;
        if (i > start)
            words[count++] = (Str){text.data + start, i - start};
        else
            i++;
    }
    return count;
}

static uint16_t value_of(Reader *reader, Str name) {
    size_t hash = 5381;
    for (size_t i = 0; i < name.size; i++)
        hash = hash * 33 + (unsigned char)name.data[i];
    for (size_t slot = hash % NAME_SLOTS;; slot = (slot + 1) % NAME_SLOTS) {
        if (str_equal(reader->names[slot], name))
            return reader->values[slot];
        if (reader->names[slot].size)
            continue;
        if (reader->program->value_count + 1 >= SOUND_VALUES) {
            fail(reader, "there are too many values");
            return 0;
        }
        reader->names[slot] = name;
        return reader->values[slot] = (uint16_t)++reader->program->value_count;
    }
}

/* The values among some words, up to `most`. */
static unsigned values_in(Reader *reader, const Str *words, unsigned count, uint16_t *values, unsigned most) {
    unsigned found = 0;
    for (unsigned i = 0; i < count; i++)
        if (words[i].data[0] == '%') {
            if (found == most)
                return fail(reader, "there are too many operands");
            values[found++] = value_of(reader, words[i]);
        }
    return found;
}

static int32_t last_digit(Str word) {
    char c = word.data[word.size - 1];
    return c >= '0' && c <= '9' ? c - '0' : -1;
}

/* The first word after `from` that is a number and nothing else; -1 if there is none. */
static int32_t number_in(const Reader *reader, unsigned from) {
    int64_t number;
    for (unsigned i = from + 1; i < reader->word_count; i++)
        if (str_to_int(reader->words[i], &number))
            return (int32_t)number;
    return -1;
}

static int32_t slots_of(Str type) {
    int32_t digit = last_digit(type);
    return digit < 0 ? 1 : digit;
}

/* `%r = op`, `%r:2 = op`: the values are %r, or %r#0 and %r#1. */
static void read_results(Reader *reader) {
    int64_t count;
    reader->value_results = 0;
    if (reader->result_count == 2 && str_to_int(reader->result_words[1], &count)) {
        for (int64_t i = 0; i < count && i < SOUND_MOVES; i++) {
            Str base = reader->result_words[0];
            char *name = reader->spelled[reader->number][i];
            if (base.size + 3 > MOST_NAME) {
                fail(reader, "the name is too long");
                return;
            }
            memcpy(name, base.data, base.size);
            name[base.size] = '#';
            name[base.size + 1] = (char)('0' + i);
            reader->results[reader->value_results++] = value_of(reader, str_of(name));
        }
    } else if (reader->result_count == 1) {
        reader->results[reader->value_results++] = value_of(reader, reader->result_words[0]);
    }
    reader->line->result = reader->value_results ? reader->results[0] : 0;
}

static SoundMoves moves(const uint16_t *to, const uint16_t *from, unsigned count) {
    SoundMoves made = {.count = (uint16_t)count};
    memcpy(made.to, to, count * sizeof *to);
    memcpy(made.from, from, count * sizeof *from);
    return made;
}

static bool read_allocation(Reader *reader) {
    SoundLine *line = reader->line;
    Str type = reader->words[reader->word_count - 1];
    bool source = reader->word_count > 1 && reader->words[1].data[0] == '%';
    unsigned attribute = 1;
    while (attribute < reader->word_count && !str_is(reader->words[attribute], "allocation.offset"))
        attribute++;
    line->number = number_in(reader, attribute);
    if (line->number < 0) {
        line->number = reader->free_bytes;
        reader->free_bytes += slots_of(type) * SOUND_TILE;
    }
    line->operands[0] = source; /* it writes */
    return true;
}

static bool open_op(Reader *reader) {
    if (reader->depth == MOST_DEPTH)
        return fail(reader, "it is nested too deeply");
    reader->open[reader->depth++] = (uint16_t)reader->number;
    return true;
}

static bool read_for(Reader *reader) {
    SoundLine *line = reader->line;
    uint16_t values[4 + 2 * SOUND_MOVES], to[SOUND_MOVES], from[SOUND_MOVES];
    unsigned count = values_in(reader, reader->words, reader->word_count, values, 4 + 2 * SOUND_MOVES);
    unsigned carried = count < 4 ? 0 : (count - 4) / 2;
    if (count < 4 || carried != reader->value_results)
        return fail(reader, "this is no loop");
    for (unsigned i = 0; i < carried; i++) {
        to[i] = values[4 + 2 * i];
        from[i] = values[5 + 2 * i];
    }
    line->moves[0] = moves(to, from, carried);
    line->moves[1] = moves(reader->results, to, carried);
    line->yields = moves(to, to, carried);
    return true;
}

static bool read_yield(Reader *reader) {
    SoundLine *line = reader->line;
    uint16_t values[SOUND_MOVES];
    unsigned count = values_in(reader, reader->words, reader->word_count, values, SOUND_MOVES);
    line->owner = reader->depth ? reader->open[reader->depth - 1] : 0;
    const SoundLine *owner = &reader->program->lines[line->owner];
    if (!line->owner || owner->yields.count != count)
        return fail(reader, "this yield does not fit");
    line->yields = moves(owner->yields.to, values, count);
    return true;
}

static bool read_jump(Reader *reader) {
    SoundLine *line = reader->line;
    int which = -1;
    for (unsigned i = 1; i < reader->word_count; i++) {
        Str word = reader->words[i];
        if (word.data[0] == '^') {
            if (++which > 1 || reader->jump_count == 2 * MOST_LABELS)
                return fail(reader, "there are too many branches");
            reader->jumps[reader->jump_count].line = (uint16_t)reader->number;
            reader->jumps[reader->jump_count].which = (uint16_t)which;
            reader->jumps[reader->jump_count++].label = word;
        } else if (word.data[0] == '%' && which >= 0) {
            SoundMoves *forwarded = &line->moves[which];
            if (forwarded->count == SOUND_MOVES)
                return fail(reader, "a block is handed too much");
            forwarded->from[forwarded->count++] = value_of(reader, word);
        }
    }
    return true;
}

static bool read_label(Reader *reader) {
    if (reader->label_count == MOST_LABELS)
        return fail(reader, "there are too many blocks");
    Label *label = &reader->labels[reader->label_count++];
    *label = (Label){.name = reader->words[0], .line = (uint16_t)reader->number};
    label->argument_count =
        (uint16_t)values_in(reader, reader->words, reader->word_count, label->arguments, SOUND_MOVES);
    return true;
}

/* What the words of an op say beside its operands. */
static bool read_rest(Reader *reader) {
    SoundLine *line = reader->line;
    switch (line->kind) {
    case SOUND_CONSTANT:
        line->number = str_is(reader->words[1], "true") ? 1 : number_in(reader, 0);
        return true;
    case SOUND_ANY:
        line->number = last_digit(reader->words[1]);
        return line->number > 0 || fail(reader, "how many values there are is not said");
    case SOUND_LESS:
        line->kind = str_is(reader->words[1], "slt") ? SOUND_LESS : SOUND_NOT_LESS;
        return str_is(reader->words[1], "slt") || str_is(reader->words[1], "sge") ||
               fail(reader, "this is not compared");
    case SOUND_ALLOCATE:
        return read_allocation(reader);
    case SOUND_INDEX:
        line->number = slots_of(reader->words[reader->word_count - 2]);
        return true;
    case SOUND_BARRIER:
        if (reader->word_count > 1 && !str_is(reader->words[1], "local") && !str_is(reader->words[1], "all"))
            line->kind = SOUND_NOTHING;
        return true;
    case SOUND_FOR:
        return read_for(reader) && open_op(reader);
    case SOUND_IF:
        line->targets[0] = (uint16_t)(reader->number + 1);
        line->yields = moves(reader->results, reader->results, reader->value_results);
        return open_op(reader);
    case SOUND_NOTHING: /* scf.execute_region */
        line->yields = moves(reader->results, reader->results, reader->value_results);
        return open_op(reader);
    case SOUND_YIELD:
        return read_yield(reader);
    case SOUND_JUMP:
    case SOUND_CHOOSE:
        return read_jump(reader);
    default:
        line->number = number_in(reader, 0);
        return true;
    }
}

static bool read_op(Reader *reader) {
    SoundLine *line = reader->line;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const struct OpForm *form = &forms[i];
        uint16_t values[MOST_WORDS];
        if (!str_is(reader->words[0], form->name))
            continue;
        line->kind = form->kind;
        read_results(reader);
        unsigned count = values_in(reader, reader->words, reader->word_count, values, MOST_WORDS);
        for (unsigned k = 0; k < form->count; k++) {
            if (form->operands[k] >= count)
                return fail(reader, "an operand is missing");
            line->operands[k] = values[form->operands[k]];
        }
        return read_rest(reader);
    }
    return fail(reader, "this op is not known");
}

/* `}` or `} else {`: as a yield of nothing. */
static bool read_close(Reader *reader, bool has_else) {
    SoundLine *line = reader->line;
    if (!reader->depth)
        return true; /* the function's or the module's */
    line->kind = SOUND_YIELD;
    line->owner = reader->open[reader->depth - 1];
    SoundLine *owner = &reader->program->lines[line->owner];
    if (has_else) {
        owner->targets[1] = (uint16_t)(reader->number + 1);
        return true;
    }
    owner->end = (uint16_t)reader->number;
    reader->depth--;
    return true;
}

static bool is_passed_over(Str text) {
    if (!text.size || text.data[0] == '#' || text.data[0] == '!' || str_starts(text, STR("//")))
        return true;
    for (size_t i = 0; i < sizeof passed_over / sizeof *passed_over; i++)
        if (str_starts(text, str_of(passed_over[i])))
            return true;
    return false;
}

static bool read_line(Reader *reader, Str text) {
    while (text.size && text.data[0] == ' ')
        text = (Str){text.data + 1, text.size - 1};
    if (is_passed_over(text))
        return true;
    if (text.data[0] == '}')
        return read_close(reader, text.size > 1);
    const char *equals = text.data[0] == '%' ? memmem(text.data, text.size, " = ", 3) : NULL;
    reader->result_count = equals ? cut(str_between(text.data, equals), reader->result_words) : 0;
    Str rest = equals ? str_between(equals + 3, text.data + text.size) : text;
    if (is_passed_over(rest))
        return true;
    reader->word_count = cut(rest, reader->words);
    if (!reader->word_count)
        return fail(reader, "this line is not understood");
    return text.data[0] == '^' ? read_label(reader) : read_op(reader);
}

static bool settle_jumps(Reader *reader) {
    for (unsigned i = 0; i < reader->jump_count; i++) {
        SoundLine *line = &reader->program->lines[reader->jumps[i].line];
        unsigned which = reader->jumps[i].which, k = 0;
        while (k < reader->label_count && !str_equal(reader->labels[k].name, reader->jumps[i].label))
            k++;
        reader->number = reader->jumps[i].line;
        if (k == reader->label_count || reader->labels[k].argument_count != line->moves[which].count)
            return fail(reader, "there is no such block");
        line->targets[which] = reader->labels[k].line;
        memcpy(line->moves[which].to, reader->labels[k].arguments, sizeof line->moves[which].to);
    }
    return true;
}

bool sound_read(Str text, SoundProgram *program) {
    static _Thread_local Reader reader;
    memset(&reader, 0, sizeof reader);
    memset(program, 0, sizeof *program);
    reader.program = program;
    reader.free_bytes = FREE_BYTES;
    for (const char *at = text.data, *end = at + text.size; at < end;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop : end;
        if (++reader.number >= SOUND_LINES)
            return fail(&reader, "it is too long");
        reader.line = &program->lines[reader.number];
        reader.line->end = (uint16_t)reader.number;
        if (!read_line(&reader, str_between(at, stop)) || program->problem)
            return false;
        at = stop + 1;
    }
    program->line_count = reader.number;
    return settle_jumps(&reader);
}
