/* Compares two MLIR texts token by token: tokens FILE FILE
 *
 * What a printer must keep is the tokens; comments and white space are free. This knows nothing of
 * Weir's own lexer, so that the two cannot agree on a mistake. Exit status 0 when the texts are
 * equal, 1 with the first difference on standard output when they are not, 2 when a file cannot be
 * read. */

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *path;
    char *text; /* with a 0 at the end */
    const char *next;
    int line;
} Reader;

typedef struct {
    const char *start;
    int length; /* 0 at the end of the text */
    int line;
} Token;

static bool open_reader(Reader *reader, const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file)
        return false;
    size_t size = 0, room = 1 << 16;
    char *text = malloc(room);
    while (text) {
        size += fread(text + size, 1, room - size - 1, file);
        if (size < room - 1)
            break;
        char *more = realloc(text, room *= 2);
        if (!more)
            free(text);
        text = more;
    }
    bool ok = text && !ferror(file);
    fclose(file);
    if (!ok) {
        free(text);
        return false;
    }
    text[size] = 0;
    *reader = (Reader){.path = path, .text = text, .next = text, .line = 1};
    return true;
}

static bool is_word(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '.';
}

static void skip_blanks(Reader *reader) {
    for (;;) {
        const char *p = reader->next;
        if (*p == '\n')
            reader->line++;
        if (isspace((unsigned char)*p))
            reader->next = p + 1;
        else if (p[0] == '/' && p[1] == '/')
            reader->next = p + strcspn(p, "\n");
        else
            return;
    }
}

static const char *end_of_string(const char *p) {
    for (p++; *p && *p != '"' && *p != '\n'; p++)
        if (*p == '\\' && p[1])
            p++;
    return *p == '"' ? p + 1 : p;
}

/* 17, 1.5e-3, 0xFF and also a whole shape, 4x128xf16. */
static const char *end_of_number(const char *p) {
    bool hexadecimal = p[0] == '0' && p[1] == 'x';
    for (p++; is_word(*p) || *p == '+' || *p == '-'; p++)
        if (!is_word(*p) && (hexadecimal || (p[-1] != 'e' && p[-1] != 'E')))
            break;
    return p;
}

/* The name after one of % @ # ! ^: digits alone, or a word in which - counts too (%c-1_i32). */
static const char *end_of_name(const char *p) {
    if (*p == '"')
        return end_of_string(p);
    if (isdigit((unsigned char)*p)) {
        while (isdigit((unsigned char)*p))
            p++;
        return p;
    }
    while (is_word(*p) || (*p == '-' && p[1] != '>'))
        p++;
    return p;
}

static Token next_token(Reader *reader) {
    skip_blanks(reader);
    const char *start = reader->next, *end;
    if (!*start)
        end = start;
    else if (*start == '"')
        end = end_of_string(start);
    else if (isdigit((unsigned char)*start))
        end = end_of_number(start);
    else if (is_word(*start)) {
        end = start + 1;
        while (is_word(*end))
            end++;
    } else if (strchr("%@#!^", *start))
        end = end_of_name(start + 1);
    else if (!strncmp(start, "->", 2) || !strncmp(start, "::", 2))
        end = start + 2;
    else
        end = start + 1;
    reader->next = end;
    return (Token){.start = start, .length = (int)(end - start), .line = reader->line};
}

static void show(const Reader *reader, Token token) {
    if (token.length)
        printf("%s:%d: %.*s\n", reader->path, token.line, token.length, token.start);
    else
        printf("%s:%d: (end of text)\n", reader->path, token.line);
}

int main(int count, char **arguments) {
    if (count != 3) {
        fprintf(stderr, "usage: tokens FILE FILE\n");
        return 2;
    }
    Reader left, right;
    for (int i = 0; i < 2; i++) {
        if (!open_reader(i ? &right : &left, arguments[i + 1])) {
            perror(arguments[i + 1]);
            return 2;
        }
    }
    for (;;) {
        Token a = next_token(&left), b = next_token(&right);
        if (a.length != b.length || memcmp(a.start, b.start, (size_t)a.length) != 0) {
            show(&left, a);
            show(&right, b);
            return 1;
        }
        if (!a.length)
            return 0;
    }
}
