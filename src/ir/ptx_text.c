/* Splits the text of inline assembly into statements: labels, braces, and instructions with their operands.
 *
 * The text is read as it stands in the file: between quotes, with \0A for the end of a line. Escapes that are no blanks
 * are part of no word, so that names and numbers are slices of the file. */
#include "ir/ptx_text.h"

#include <ctype.h>

typedef struct PtxTextCursor {
    const char *at, *end;
} PtxTextCursor;

/* The character at the cursor, escaped or not, and how long it is; 0 at the end. */
static char character(const PtxTextCursor *cursor, size_t *size) {
    size_t left = (size_t)(cursor->end - cursor->at);
    *size = left > 0;
    if (!left || *cursor->at != '\\')
        return left && *cursor->at ? *cursor->at : left ? '\\' : 0;
    if (left < 2)
        return '\\';
    int64_t code;
    char digits[] = {'0', 'x', cursor->at[1], left > 2 ? cursor->at[2] : ' '};
    if (str_to_int((Str){digits, sizeof digits}, &code)) {
        *size = 3;
        return code && isspace((int)code) ? (char)code : '\\';
    }
    *size = 2;
    return cursor->at[1] == 'n' ? '\n' : cursor->at[1] == 't' ? '\t' : '\\';
}

static bool starts(const PtxTextCursor *cursor, const char *text) {
    return str_starts(str_between(cursor->at, cursor->end), str_of(text));
}

/* To the next character that is no blank and in no comment; it, or 0 at the end. */
static char skip_blanks(PtxTextCursor *cursor) {
    size_t size;
    for (char c; (c = character(cursor, &size)); cursor->at += size) {
        if (starts(cursor, "//")) {
            while ((c = character(cursor, &size)) && c != '\n')
                cursor->at += size;
        } else if (starts(cursor, "/*")) {
            Str left = str_between(cursor->at + 2, cursor->end);
            const char *close = memmem(left.data, left.size, "*/", 2);
            cursor->at = close ? close : cursor->end;
            size = close ? 2 : 0;
        } else if (!isspace((unsigned char)c)) {
            return c;
        }
    }
    return 0;
}

/* If `wanted` comes next, behind it. */
static bool take(PtxTextCursor *cursor, char wanted) {
    if (skip_blanks(cursor) != wanted)
        return false;
    cursor->at++;
    return true;
}

/* A name, a number, an opcode or $3; empty if there is none. ${3:h} is one word, and so is loop_${:uid}. */
static Str read_word(PtxTextCursor *cursor) {
    skip_blanks(cursor);
    const char *start = cursor->at;
    while (cursor->at < cursor->end) {
        if (isalnum((unsigned char)*cursor->at) || memchr("_.%$", *cursor->at, 4)) {
            cursor->at++;
        } else if (starts(cursor, "::")) {
            cursor->at += 2;
        } else if (*cursor->at == '{' && cursor->at > start && cursor->at[-1] == '$') {
            const char *close = memchr(cursor->at, '}', (size_t)(cursor->end - cursor->at));
            cursor->at = close ? close + 1 : cursor->end;
        } else {
            break;
        }
    }
    return str_between(start, cursor->at);
}

static PtxTextTerm term_of(Str word, bool negative) {
    PtxTextTerm term = {.kind = TERM_NAME, .name = word};
    if (word.size > 1 && word.data[0] == '$') {
        Str digits = {word.data + 1, word.size - 1};
        if (digits.data[0] == '{') { /* ${3}, ${3:h} */
            const char *end = digits.data + digits.size, *cut = digits.data + 1;
            while (cut < end && isdigit((unsigned char)*cut))
                cut++;
            digits = str_between(digits.data + 1, cut);
        }
        term.kind = str_to_int(digits, &term.number) && !negative ? TERM_OPERAND : TERM_OTHER;
    } else if (word.size && isdigit((unsigned char)word.data[0])) {
        Str digits = {word.data, word.size - (word.data[word.size - 1] == 'U')};
        term.kind = str_to_int(digits, &term.number) ? TERM_NUMBER : TERM_OTHER;
        term.number = negative ? -term.number : term.number;
    } else if (!word.size || negative) {
        term.kind = TERM_OTHER;
    }
    return term;
}

/* False if there is no more room, or nothing that is a term. */
static bool read_term(PtxTextCursor *cursor, Operand *operand) {
    bool negative = take(cursor, '-');
    Str word = read_word(cursor);
    if (!word.size || operand->count == MOST_TERMS)
        return false;
    operand->terms[operand->count++] = term_of(word, negative);
    return true;
}

static bool read_address(PtxTextCursor *cursor, Operand *operand) {
    operand->memory = true;
    if (!read_term(cursor, operand))
        return false;
    while (!take(cursor, ']')) {
        bool negative = take(cursor, '-');
        if (!negative && !take(cursor, '+'))
            return false;
        negative |= take(cursor, '-'); /* [a+-8] */
        PtxTextTerm term = term_of(read_word(cursor), negative);
        if (term.kind != TERM_NUMBER || __builtin_add_overflow(operand->offset, term.number, &operand->offset))
            return false;
    }
    return true;
}

static bool read_operand(PtxTextCursor *cursor, Operand *operand) {
    *operand = (Operand){0};
    if (take(cursor, '['))
        return read_address(cursor, operand);
    if (take(cursor, '{')) {
        do {
            if (!read_term(cursor, operand))
                return false;
        } while (take(cursor, ','));
        return take(cursor, '}');
    }
    do {
        if (!read_term(cursor, operand))
            return false;
    } while (take(cursor, '|'));
    return true;
}

/* Whether an instruction is over: at a semicolon, or at the brace that ends its scope. */
static bool at_end(PtxTextCursor *cursor) {
    char c = skip_blanks(cursor);
    return !c || c == ';' || c == '}';
}

static void read_operands(PtxTextCursor *cursor, Statement *statement) {
    while (!at_end(cursor)) {
        if (statement->count == MOST_OPERANDS || !read_operand(cursor, &statement->operands[statement->count])) {
            statement->garbled = true;
            break;
        }
        statement->count++;
        if (!take(cursor, ',') && !at_end(cursor)) {
            statement->garbled = true;
            break;
        }
    }
    while (statement->garbled && skip_blanks(cursor) && *cursor->at != ';') {
        size_t size;
        character(cursor, &size);
        cursor->at += size;
    }
}

bool ptx_next_statement(const char **at, const char *end, Statement *statement) {
    PtxTextCursor cursor = {*at, end};
    *statement = (Statement){0};
    while (take(&cursor, ';'))
        ;
    const char *start = cursor.at;
    if (!skip_blanks(&cursor))
        return false;
    if (take(&cursor, '{') || take(&cursor, '}')) {
        statement->kind = STATEMENT_SCOPE;
    } else {
        statement->guarded = take(&cursor, '@');
        if (statement->guarded) {
            statement->negated = take(&cursor, '!');
            statement->guard = term_of(read_word(&cursor), false);
        }
        statement->opcode = read_word(&cursor);
        if (!statement->guarded && statement->opcode.size && take(&cursor, ':')) {
            statement->kind = STATEMENT_LABEL;
        } else {
            statement->garbled = !statement->opcode.size;
            read_operands(&cursor, statement);
        }
    }
    statement->text = str_between(start, cursor.at);
    *at = cursor.at;
    return true;
}
