/* The public API: order logs of the processes of one program, made one. */
#include "api/internal.h"

#include "trace/order_merge.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct LogTarget {
    weir_write *write;
    void *to;
} LogTarget;

static bool write_log(void *context, const char *data, size_t size) {
    const LogTarget *target = context;
    return target->write(target->to, data, size) == 0;
}

static bool merge(weir_context *context, OrderPart *parts, size_t count, LogTarget *target) {
    const char *problem;
    uint32_t wrong = 0;
    if (order_merge(parts, (uint32_t)count, write_log, target, &problem, &wrong))
        return true;
    if (problem)
        snprintf(context->error, sizeof context->error, "%s: %s (line %u)", parts[wrong].name, problem,
                 parts[wrong].log.line);
    else
        snprintf(context->error, sizeof context->error, "the merged log could not be written");
    return false;
}

int weir_merge_logs(weir_context *context, const char *const *paths, size_t count, weir_write *write, void *to) {
    Source **sources = calloc(count + 1, sizeof(Source *));
    OrderPart *parts = calloc(count + 1, sizeof *parts);
    const char *problem = "there is not enough memory";
    bool good = sources && parts && count < UINT32_MAX;
    *context->error = 0;
    for (size_t i = 0; good && i < count; i++) {
        sources[i] = source_read(paths[i], &problem);
        good = sources[i] != NULL;
        if (good)
            parts[i] = (OrderPart){.text = {sources[i]->data, sources[i]->size}, .name = paths[i]};
        else
            snprintf(context->error, sizeof context->error, "%s: %s", paths[i], problem);
    }
    good = good && merge(context, parts, count, &(LogTarget){write, to});
    for (size_t i = 0; sources && i < count; i++)
        source_free(sources[i]);
    free(sources);
    free(parts);
    return good ? 0 : -1;
}
