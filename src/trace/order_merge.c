/* Merging order logs: the part whose next piece is the earliest comes first. A piece is what lies between two times. */
#include "trace/order_merge.h"

#include "base/map.h"

/* Lines from the part's time up to the next one, which becomes its time; false: one of them cannot be read. */
static bool take_piece(OrderPart *part, Text *to) {
    if (part->time)
        text_addf(to, "at %llu\n", (unsigned long long)part->time);
    for (OrderLine line;;) {
        const char *begin = part->log.rest.data;
        if (!order_log_next(&part->log, &line))
            break;
        part->ended |= line.verb == ORDER_END;
        if (line.verb == ORDER_PROCESS)
            part->process = line.numbers[0];
        if (line.verb != ORDER_BEGIN && line.verb != ORDER_END && line.verb != ORDER_AT)
            text_add(to, begin, (size_t)(part->log.rest.data - begin));
        if (to->size && to->data[to->size - 1] != '\n')
            text_char(to, '\n');
        if (line.verb == ORDER_AT) {
            part->time = line.numbers[0] > part->time ? line.numbers[0] : part->time;
            return true;
        }
    }
    part->over = true;
    return !part->log.problem;
}

/* ---- Events that are waited for until they are recorded ------------------------------------------------ */

static char to_come, has_come; /* what the map has of the key of an event */

/* Lines of the log, or of its next piece: events that they record have come, or are to come. */
static bool note_records(OrderLog log, bool piece, Map *keys, char *what) {
    OrderLine event = {0};
    for (OrderLine line; order_log_next(&log, &line) && !(piece && line.verb == ORDER_AT);) {
        if (line.verb == ORDER_SHARED_EVENT)
            event = line;
        if (line.verb != ORDER_RECORD || !event.line || line.numbers[0] != event.numbers[0])
            continue;
        void **seat = map_put(keys, event.texts[0]);
        if (!seat)
            return false;
        *seat = what;
    }
    return true;
}

/* Whether its next piece waits for one that is to come. */
static bool is_blocked(const OrderPart *part, const Map *keys) {
    OrderLog log = part->log;
    OrderLine event = {0};
    for (OrderLine line; order_log_next(&log, &line) && line.verb != ORDER_AT;) {
        if (line.verb == ORDER_SHARED_EVENT)
            event = line;
        if (line.verb == ORDER_WAIT && line.number_count > 2 && line.numbers[2] && event.line &&
            line.numbers[0] == event.numbers[0] && map_get(keys, event.texts[0]) == &to_come)
            return true;
    }
    return false;
}

static OrderPart *earliest(OrderPart *parts, uint32_t count, const Map *keys) {
    OrderPart *found = NULL, *other = NULL;
    for (uint32_t i = 0; i < count; i++) {
        if (parts[i].over)
            continue;
        if (!other || parts[i].time < other->time)
            other = &parts[i];
        if ((!found || parts[i].time < found->time) && !is_blocked(&parts[i], keys))
            found = &parts[i];
    }
    return found ? found : other; /* all of them wait */
}

static void end_log(const OrderPart *parts, uint32_t count, Text *text) {
    for (uint32_t i = 0; i < count; i++)
        if (!parts[i].ended)
            text_addf(text, "missing \"the log of process %llu ends early: what it did then was not checked\"\n",
                      (unsigned long long)parts[i].process);
    text_addf(text, "end\n");
}

/* Its first lines say which process it is of. */
static void begin_part(OrderPart *part, uint32_t number) {
    OrderLog first = {.rest = part->text};
    OrderLine line;
    *part = (OrderPart){.text = part->text, .name = part->name, .log = first, .process = number + 1};
    for (unsigned i = 0; i < 2 && order_log_next(&first, &line); i++)
        if (line.verb == ORDER_PROCESS)
            part->process = line.numbers[0];
}

static bool merge(OrderPart *parts, uint32_t count, Map *keys, OrderWrite *write, void *to, uint32_t *wrong) {
    Text text = {0};
    const OrderPart *last = NULL;
    bool good = true;
    text_addf(&text, "weirlog 1\n");
    for (OrderPart *part; good && (part = earliest(parts, count, keys)); last = part) {
        if (part != last)
            text_addf(&text, "process %llu\n", (unsigned long long)part->process);
        *wrong = (uint32_t)(part - parts);
        good = note_records(part->log, true, keys, &has_come) && take_piece(part, &text) &&
               write(to, text.data, text.size);
        text.size = 0;
    }
    end_log(parts, count, &text);
    good = good && write(to, text.data, text.size);
    text_free(&text);
    return good;
}

bool order_merge(OrderPart *parts, uint32_t count, OrderWrite *write, void *to, const char **problem, uint32_t *wrong) {
    Map keys = {0};
    bool good = true;
    *wrong = 0;
    for (uint32_t i = 0; i < count; i++) {
        begin_part(&parts[i], i);
        good = good && note_records(parts[i].log, false, &keys, &to_come);
    }
    good = good && merge(parts, count, &keys, write, to, wrong);
    *problem = good || !count ? NULL : parts[*wrong].log.problem;
    map_free(&keys);
    return good;
}
