/* Lines of the log, in pieces. It has another name until it is whole. */
#include "runtime/record/gpu_log.h"

#include "base/hash.h"
#include "base/text.h"
#include "runtime/record/gpu.h"
#include "trace/order_log.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

enum { PIECE = 1 << 16, MEMORIES = 1 << 12, MOST_SLICES = 1 << 12 };
static const uint64_t most_bytes = UINT64_C(1) << 30;

static struct {
    bool begun, failed, timed;
    int file;
    pid_t process;
    uint64_t thread, bytes;
    Text text;
} log = {.file = -1};
/* Allocations that the log has, by their addresses; one that has no room here is written again. */
static RecordingMemory memories[MEMORIES];

static void name_log(char *to, size_t size, const char *ending) {
    snprintf(to, size, "%s/program-%ld%s", gpu_options()->folder, (long)log.process, ending);
}

static void write_piece(void) {
    if (log.file < 0 || log.process != getpid() || write(log.file, log.text.data, log.text.size) < 0)
        log.failed = true;
    log.bytes += log.text.size;
    log.failed |= log.bytes > most_bytes;
    log.text.size = 0;
}

static void begin_log(void) {
    char path[4096];
    log.begun = true;
    gpu_begin(); /* there may be no kernel */
    log.process = getpid();
    name_log(path, sizeof path, ".order");
    log.file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    text_addf(&log.text, "weirlog 1\nprocess %ld\n", (long)log.process);
}

static void add_line(const char *format, va_list arguments) {
    text_vaddf(&log.text, format, arguments);
    text_char(&log.text, '\n');
    if (log.text.size >= PIECE)
        write_piece();
}

void log_line(uint64_t thread, const char *format, ...) {
    va_list arguments;
    if (!log.begun)
        begin_log();
    if (log.failed)
        return;
    if (log.timed)
        text_addf(&log.text, "at %llu\n", (unsigned long long)gpu_now());
    if (thread != log.thread)
        text_addf(&log.text, "thread %llu\n", (unsigned long long)thread);
    log.thread = thread;
    va_start(arguments, format);
    add_line(format, arguments);
    va_end(arguments);
}

void log_more(const char *format, ...) {
    va_list arguments;
    if (log.failed)
        return;
    va_start(arguments, format);
    add_line(format, arguments);
    va_end(arguments);
}

void log_timed(void) {
    log.timed = true;
}

void log_memory(uint64_t thread, RecordingMemory allocation) {
    uint64_t key = hash_bytes(HASH_START, &allocation.base, sizeof allocation.base);
    RecordingMemory *known = &memories[key % MEMORIES];
    if (!allocation.bytes || (known->base == allocation.base && known->bytes == allocation.bytes))
        return;
    *known = allocation;
    log_line(thread, "host %llu %llu \"\"", (unsigned long long)allocation.base, (unsigned long long)allocation.bytes);
}

void log_touches(const RecordingArea *area, bool writes) {
    if (area->slices > MOST_SLICES)
        log_more("missing \"a copy has more than %d slices: races with it were not checked\"", MOST_SLICES);
    for (uint64_t i = 0; area->bytes && area->slices <= MOST_SLICES && i < area->slices; i++)
        log_more("%s %llu %llu %llu %llu", writes ? "w" : "r", (unsigned long long)(area->base + i * area->slice),
                 (unsigned long long)area->bytes, (unsigned long long)area->pitch, (unsigned long long)area->rows);
}

void log_lifetime(uint64_t thread, const OrderLifetime *of) {
    Text lines = {0};
    order_log_lifetime(&lines, of);
    log_line(thread, "%.*s", (int)lines.size, lines.data);
    text_free(&lines);
}

void log_end(bool wanted) {
    char path[4096], whole[4096];
    if (!log.begun || log.process != getpid())
        return;
    if (log.failed)
        text_addf(&log.text, "missing \"the order log could not be written to its end\"\n");
    if (log.timed)
        text_addf(&log.text, "at %llu\nsend 1 \"end-%ld\"\n", (unsigned long long)gpu_now(), (long)log.process);
    text_addf(&log.text, "end\n");
    write_piece();
    close(log.file);
    name_log(path, sizeof path, ".order");
    name_log(whole, sizeof whole, ORDER_LOG_ENDING);
    if (wanted)
        rename(path, whole);
    else
        unlink(path);
    text_free(&log.text);
    log.begun = log.failed = false;
}
