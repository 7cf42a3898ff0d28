/* Reading order logs, line by line. */
#include "trace/order_log.h"

#include <string.h>

typedef struct OrderVerbRow {
    const char *word;
    unsigned size, least, most, texts;
} OrderVerbRow;

static const OrderVerbRow rows[] = {
#define ORDER_VERB(name, word, least, most, texts) {word, sizeof word - 1, least, most, texts},
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

static void skip_spaces(Str *line) {
    while (line->size && *line->data == ' ')
        line->data++, line->size--;
}

static Str take_word(Str *line) {
    skip_spaces(line);
    size_t size = 0;
    while (size < line->size && line->data[size] != ' ')
        size++;
    Str word = {line->data, size};
    line->data += size;
    line->size -= size;
    return word;
}

/* False: it is none, or too large. */
static bool take_number(Str *line, uint64_t *number) {
    enum { ALWAYS_FIT = 19 }; /* digits */
    uint64_t value = 0;
    size_t size = 0;
    skip_spaces(line);
    for (; size < line->size && line->data[size] != ' '; size++) {
        unsigned digit = (unsigned)(line->data[size] - '0');
        if (digit > 9 || (size >= ALWAYS_FIT && value > (UINT64_MAX - digit) / 10))
            return false;
        value = value * 10 + digit;
    }
    line->data += size;
    line->size -= size;
    *number = value;
    return size;
}

/* "..." from here on; false: there is none. */
static bool take_text(Str *line, Str *text) {
    skip_spaces(line);
    const char *end = line->size > 1 && *line->data == '"' ? memchr(line->data + 1, '"', line->size - 1) : NULL;
    if (!end)
        return false;
    *text = (Str){line->data + 1, (size_t)(end - line->data - 1)};
    line->size -= (size_t)(end + 1 - line->data);
    line->data = end + 1;
    return true;
}

static bool is_verb(const OrderVerbRow *row, Str word) {
    return row->size == word.size && memcmp(row->word, word.data, word.size) == 0;
}

/* Most often it is the one that has come behind the last one before. */
static unsigned verb_of(OrderLog *log, Str word) {
    unsigned verb = log->behind[log->verb];
    if (!is_verb(&rows[verb], word))
        for (verb = 0; verb < ORDER_VERBS && !is_verb(&rows[verb], word);)
            verb++;
    if (verb < ORDER_VERBS)
        log->behind[log->verb] = (uint8_t)verb;
    log->verb = (uint8_t)(verb < ORDER_VERBS ? verb : 0);
    return verb;
}

static bool read_line(OrderLog *log, Str text, OrderLine *line) {
    unsigned verb = verb_of(log, take_word(&text));
    log->problem = "there is no such verb in an order log";
    if (verb == ORDER_VERBS)
        return false;
    const OrderVerbRow *row = &rows[verb];
    *line = (OrderLine){.verb = (OrderVerb)verb, .line = log->line};
    log->problem = "a number is expected here, of at most 64 bits";
    while (line->number_count < row->most) {
        skip_spaces(&text);
        if (line->number_count >= row->least && (!text.size || *text.data == '"'))
            break;
        if (!take_number(&text, &line->numbers[line->number_count++]))
            return false;
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
