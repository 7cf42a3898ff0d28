/* Reading order logs, line by line; and lines that several write. */
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

void order_log_lifetime(Text *to, const OrderLifetime *of) {
    if (of->stream)
        text_addf(to, "copy %llu \"%s\" \"%s\"\n", (unsigned long long)*of->stream, of->name, of->where);
    else
        text_addf(to, "access \"%s\" \"%s\"\n", of->name, of->where);
    text_addf(to, "%s %llu %llu", of->frees ? "frees" : "allocates", (unsigned long long)of->address,
              (unsigned long long)of->bytes);
}

bool order_log_is(const char *data, size_t size) {
    static const char begin[] = "weirlog ";
    return size >= sizeof begin - 1 && memcmp(data, begin, sizeof begin - 1) == 0;
}

static inline const char *skip_spaces(const char *at, const char *end) {
    while (at < end && *at == ' ')
        at++;
    return at;
}

/* Behind the number that is there; NULL: there is none, or it is too large. */
static inline const char *take_number(const char *at, const char *end, uint64_t *number) {
    enum { ALWAYS_FIT = 19 }; /* digits */
    const char *begin = at, *fits = end - at > ALWAYS_FIT ? at + ALWAYS_FIT : end;
    uint64_t value = 0;
    unsigned digit = 0;
    for (; at < fits && (digit = (unsigned)(*at - '0')) <= 9; at++)
        value = value * 10 + digit;
    for (; at < end && (digit = (unsigned)(*at - '0')) <= 9 && value <= (UINT64_MAX - digit) / 10; at++)
        value = value * 10 + digit;
    *number = value;
    return at > begin && (at == end || *at == ' ') ? at : NULL;
}

/* Behind the "..." that is there; NULL: there is none. */
static inline const char *take_text(const char *at, const char *end, Str *text) {
    const char *close = end - at > 1 && *at == '"' ? memchr(at + 1, '"', (size_t)(end - at - 1)) : NULL;
    if (!close)
        return NULL;
    *text = (Str){at + 1, (size_t)(close - at - 1)};
    return close + 1;
}

static inline bool is_verb(const OrderVerbRow *row, const char *at, const char *end) {
    unsigned size = 0;
    if ((size_t)(end - at) < row->size)
        return false;
    while (size < row->size && at[size] == row->word[size])
        size++;
    return size == row->size && (at + size == end || at[size] == ' ');
}

/* Most often it is the one that has come behind the last one before. */
static unsigned verb_of(OrderLog *log, const char *at, const char *end) {
    unsigned verb = log->behind[log->verb];
    if (!is_verb(&rows[verb], at, end))
        for (verb = 0; verb < ORDER_VERBS && !is_verb(&rows[verb], at, end);)
            verb++;
    if (verb < ORDER_VERBS)
        log->behind[log->verb] = (uint8_t)verb;
    log->verb = (uint8_t)(verb < ORDER_VERBS ? verb : 0);
    return verb;
}

/* What is wrong with the line; NULL: nothing. */
static const char *read_line(OrderLog *log, const char *at, const char *end, OrderLine *line) {
    at = skip_spaces(at, end);
    unsigned verb = verb_of(log, at, end), count = 0;
    if (verb == ORDER_VERBS)
        return "there is no such verb in an order log";
    const OrderVerbRow *row = &rows[verb];
    *line = (OrderLine){.verb = (OrderVerb)verb, .line = log->line};
    for (at += row->size; count < row->most; count++) {
        at = skip_spaces(at, end);
        if (count >= row->least && (at == end || *at == '"'))
            break;
        if (!(at = take_number(at, end, &line->numbers[count])))
            return "a number is expected here, of at most 64 bits";
    }
    line->number_count = count;
    for (unsigned i = 0; i < row->texts; i++)
        if (!(at = take_text(skip_spaces(at, end), end, &line->texts[i])))
            return "a text in quotes is expected here";
    return skip_spaces(at, end) == end ? NULL : "nothing is expected behind this";
}

bool order_log_next(OrderLog *log, OrderLine *line) {
    while (log->rest.size) {
        const char *begin = log->rest.data, *limit = begin + log->rest.size, *end = memchr(begin, '\n', log->rest.size);
        log->rest.data = end ? end + 1 : limit;
        log->rest.size = (size_t)(limit - log->rest.data);
        log->line++;
        end = end ? end : limit;
        end -= end > begin && end[-1] == '\r';
        if (begin < end) {
            log->problem = read_line(log, begin, end, line);
            return !log->problem;
        }
    }
    return false;
}
