/* Inline assembly, as it stands between the quotes of an op.
 *
 * It is read from a copy of the same size, in which escapes are what they stand for, and what only inline assembly has
 * is written as names of PTX: so a place in the copy is that place in the file. */
#include "ptx/internal.h"

#include <ctype.h>

/* The character that an escape stands for, and its size: \0A, \n, \t. */
static char escaped(Str text, size_t *size) {
    int64_t code;
    char digits[] = {'0', 'x', text.size > 1 ? text.data[1] : ' ', text.size > 2 ? text.data[2] : ' '};
    bool hex = str_to_int((Str){digits, sizeof digits}, &code);
    char c = text.size > 1 ? text.data[1] : '\\';
    *size = hex ? 3 : text.size > 1 ? 2 : 1;
    return hex ? (char)code : c == 'n' ? '\n' : c == 't' ? '\t' : c;
}

/* ${3:h} becomes $3 and blanks, and ${:uid} a part of a name: $__uid_. The size of it; 1: it is none of these. */
static size_t write_braces(Str text, char *to) {
    size_t size = 2, digits = 2;
    while (size < text.size && (isalnum((unsigned char)text.data[size]) || text.data[size] == ':'))
        size++;
    if (size == text.size || text.data[size++] != '}')
        return 1;
    while (isdigit((unsigned char)text.data[digits]))
        digits++;
    memcpy(to + 1, text.data + 2, digits - 2);
    memset(to + digits - 1, digits > 2 ? ' ' : '_', size - digits + 1);
    for (size_t i = digits; digits == 2 && i < size; i++)
        if (is_class(text.data[i], CLASS_IDENTIFIER))
            to[i] = text.data[i];
    return size;
}

static char *decoded(Str text, Arena *arena) {
    char *copy = arena_zalloc(arena, text.size + 16);
    for (size_t at = 0, size; at < text.size; at += size) {
        Str left = {text.data + at, text.size - at};
        size = 1;
        copy[at] = *left.data;
        if (*left.data == '\\') {
            copy[at] = escaped(left, &size);
            memset(copy + at + 1, ' ', size - 1);
        } else if (str_starts(left, STR("${"))) {
            size = write_braces(left, copy + at);
        }
        if (!copy[at] || !isascii((unsigned char)copy[at]))
            copy[at] = '\\'; /* which is in no word */
    }
    return copy;
}

void ptx_read_assembly(PtxModule *module, Str text, Arena *arena) {
    Diagnostics ignored = {0};
    Source *source = ARENA_NEW(arena, Source);
    *source = (Source){.name = "", .data = decoded(text, arena), .size = text.size};
    if (!read_module(module, source, arena, false, &ignored))
        *module = (PtxModule){0};
    diagnostics_free(&ignored);
}
