/* Merging order logs: the part whose next piece is the earliest comes first. A piece is what lies between two times. */
#include "trace/order_merge.h"

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

static OrderPart *earliest(OrderPart *parts, uint32_t count) {
    OrderPart *found = NULL;
    for (uint32_t i = 0; i < count; i++)
        if (!parts[i].over && (!found || parts[i].time < found->time))
            found = &parts[i];
    return found;
}

static void end_log(const OrderPart *parts, uint32_t count, Text *text) {
    for (uint32_t i = 0; i < count; i++)
        if (!parts[i].ended)
            text_addf(text, "missing \"the log of process %llu ends early: what it did then was not looked at\"\n",
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

bool order_merge(OrderPart *parts, uint32_t count, OrderWrite *write, void *to, const char **problem, uint32_t *wrong) {
    Text text = {0};
    const OrderPart *last = NULL;
    bool good = true;
    *problem = NULL;
    for (uint32_t i = 0; i < count; i++)
        begin_part(&parts[i], i);
    text_addf(&text, "weirlog 1\n");
    for (OrderPart *part; good && (part = earliest(parts, count)); last = part) {
        if (part != last)
            text_addf(&text, "process %llu\n", (unsigned long long)part->process);
        if (!take_piece(part, &text)) {
            *problem = part->log.problem;
            *wrong = (uint32_t)(part - parts);
            good = false;
        }
        good = good && write(to, text.data, text.size);
        text.size = 0;
    }
    end_log(parts, count, &text);
    good = good && write(to, text.data, text.size);
    text_free(&text);
    return good;
}
