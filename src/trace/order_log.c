/* Reading order logs, line by line. */
#include "trace/order_log.h"

#include <string.h>

typedef struct OrderVerbRow {
    const char *word;
    unsigned least, most, texts;
} OrderVerbRow;

static const OrderVerbRow rows[] = {
#define ORDER_VERB(name, word, least, most, texts) {word, least, most, texts},
#include "trace/order_log.def"
#undef ORDER_VERB
};

bool order_log_is(const char *data, size_t size) {
    static const char begin[] = "weirlog ";
    return size >= sizeof begin - 1 && memcmp(data, begin, sizeof begin - 1) == 0;
}

static Str take_line(OrderLog *log) {
    const char *end = memchr(log->rest.data, '\n', log->rest.size);
    size_t size = end ? (size_t)(end - log->rest.data) : log->rest.size;
    Str line = {log->rest.data, size};
    log->rest.data += size + (end != NULL);
    log->rest.size -= size + (end != NULL);
    log->line++;
    return line;
}

static Str take_word(Str *line) {
    while (line->size && *line->data == ' ')
        line->data++, line->size--;
    size_t size = 0;
    while (size < line->size && line->data[size] != ' ')
        size++;
    Str word = {line->data, size};
    line->data += size;
    line->size -= size;
    return word;
}

/* False: it is none, or too large. */
static bool read_number(Str word, uint64_t *number) {
    *number = 0;
    for (size_t i = 0; i < word.size; i++) {
        unsigned digit = (unsigned)(word.data[i] - '0');
        if (digit > 9 || *number > (UINT64_MAX - digit) / 10)
            return false;
        *number = *number * 10 + digit;
    }
    return word.size;
}

/* "..." from here on; false: there is none. */
static bool take_text(Str *line, Str *text) {
    while (line->size && *line->data == ' ')
        line->data++, line->size--;
    const char *end = line->size > 1 && *line->data == '"' ? memchr(line->data + 1, '"', line->size - 1) : NULL;
    if (!end)
        return false;
    *text = (Str){line->data + 1, (size_t)(end - line->data - 1)};
    line->size -= (size_t)(end + 1 - line->data);
    line->data = end + 1;
    return true;
}

static bool read_line(OrderLog *log, Str text, OrderLine *line) {
    Str word = take_word(&text);
    unsigned verb = 0;
    while (verb < ORDER_VERBS && !str_is(word, rows[verb].word))
        verb++;
    log->problem = "there is no such verb in an order log";
    if (verb == ORDER_VERBS)
        return false;
    const OrderVerbRow *row = &rows[verb];
    *line = (OrderLine){.verb = (OrderVerb)verb, .line = log->line};
    log->problem = "a number is expected here, of at most 64 bits";
    while (line->number_count < row->most) {
        Str rest = text, number = take_word(&rest);
        if (line->number_count >= row->least && (!number.size || *number.data == '"'))
            break;
        if (!read_number(number, &line->numbers[line->number_count++]))
            return false;
        text = rest;
    }
    log->problem = "a text in quotes is expected here";
    for (unsigned i = 0; i < row->texts; i++)
        if (!take_text(&text, &line->texts[i]))
            return false;
    log->problem = "nothing is expected behind this";
    if (take_word(&text).size)
        return false;
    log->problem = NULL;
    return true;
}

bool order_log_next(OrderLog *log, OrderLine *line) {
    while (log->rest.size) {
        Str text = take_line(log);
        if (text.size && text.data[text.size - 1] == '\r')
            text.size--;
        if (text.size)
            return read_line(log, text, line);
    }
    return false;
}
