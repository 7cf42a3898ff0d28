/* Recordings beside an order log: what launches touch of which it has no more than where they may; and what those of
 * several processes do that signal each other. */
#include "api/internal.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct FindTouches {
    weir_result *recorded;
    ProgramRecording *of;
    Arena *arena;
} FindTouches;

static void find_touches(void *context) {
    const FindTouches *find = context;
    find->of->known = result_touches(&find->recorded->result, find->of, find->arena);
}

/* A recording that is open. */
typedef struct OpenRecording {
    weir_context *context;
    weir_file *file;
    weir_module *module;
    weir_result *result; /* NULL: it cannot be opened */
} OpenRecording;

static OpenRecording open_recording(const char *path) {
    static const weir_run_options usual;
    OpenRecording open = {.context = weir_create()};
    open.file = open.context ? weir_open(open.context, path) : NULL;
    open.module = open.file ? weir_parse(open.file, 0, 0) : NULL;
    open.result = open.module ? question_begin(open.module, &usual) : NULL;
    PipelineResult *result = open.result ? &open.result->result : NULL;
    if (!result || (result->recording && result->count == 1 && !*result->problem))
        return open;
    weir_result_free(open.result);
    open.result = NULL;
    return open;
}

static void close_recording(OpenRecording *open) {
    weir_result_free(open->result);
    weir_module_free(open->module);
    weir_close(open->file);
    weir_destroy(open->context);
}

/* The file is of that launch. */
static void read_recording(const char *path, ProgramRecording *of, Arena *arena) {
    OpenRecording open = open_recording(path);
    FindTouches find = {open.result, of, arena};
    of->path = arena_copy(arena, path, strlen(path) + 1);
    of->known = open.result && result_attempt(&open.result->result, find_touches, &find) && of->known;
    close_recording(&open);
}

static int by_operation(const void *a, const void *b) {
    ProgramRecording *const *x = a, *const *y = b;
    return ((*x)->stand.operation > (*y)->stand.operation) - ((*x)->stand.operation < (*y)->stand.operation);
}

/* Those that signal others are played together. */
static bool play_together(const ProgramRecordings *all, Arena *arena) {
    ProgramRecording **items = ARENA_ARRAY(arena, ProgramRecording *, all->count + 1);
    OpenRecording *opened = ARENA_ARRAY(arena, OpenRecording, all->count + 1);
    PipelineResult **results = ARENA_ARRAY(arena, PipelineResult *, all->count + 1);
    size_t count = 0, there = 0;
    for (uint32_t i = 0; i < all->count; i++)
        if (all->items[i].stand.begun)
            items[count++] = &all->items[i];
    qsort(items, count, sizeof *items, by_operation);
    for (size_t i = 0; i < count; i++) {
        opened[i] = open_recording(items[i]->path);
        results[i] = opened[i].result ? &opened[i].result->result : NULL;
        there += results[i] != NULL;
    }
    if (there == count)
        results_steps(results, items, count, arena);
    for (size_t i = 0; i < count; i++)
        close_recording(&opened[i]);
    return count && items[0]->steps;
}

/* The launch that it is of, if that is looked for. */
static ProgramRecording *find_wanted(const char *path, const ProgramRecordings *recordings) {
    enum { BYTES_MOST = 1 << 20 };
    Recording recording = {0};
    Arena arena;
    jmp_buf here;
    ProgramRecording *volatile found = NULL;
    FILE *file = fopen(path, "rb");
    arena_init(&arena, BYTES_MOST);
    arena.exhausted = &here;
    if (file && !setjmp(here) && recording_read_order(&recording, file, &arena) &&
        (recording.order || recording.touched.size)) {
        RecordingTouchedHead head = {0};
        if (recording.touched.size)
            memcpy(&head, recording.touched.data, sizeof head);
        uint64_t process = recording.order ? recording.order->process : head.process;
        for (uint32_t i = 0; i < recordings->count; i++)
            if (!recordings->items[i].known && recordings->items[i].number == recording.launch.number &&
                recordings->items[i].process == process)
                found = &recordings->items[i];
    }
    arena_free(&arena);
    if (file)
        fclose(file);
    return found;
}

bool recordings_find(PipelineResult *result, ProgramRecordings *recordings) {
    const char *log = result->program->name, *slash = strrchr(log, '/');
    char *folder = slash ? strndup(log, (size_t)(slash - log)) : strdup("."), *path = NULL;
    bool wanted = false, any = false;
    for (uint32_t i = 0; i < recordings->count; i++)
        wanted |= !recordings->items[i].looked;
    DIR *directory = wanted && folder ? opendir(folder) : NULL;
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        if (!str_ends(str_of(entry->d_name), STR(RECORDING_ENDING)) ||
            asprintf(&path, "%s/%s", folder, entry->d_name) < 0)
            continue;
        ProgramRecording *of = find_wanted(path, recordings);
        if (of && !of->looked)
            read_recording(path, of, &result->arena);
        any |= of && of->known;
        free(path);
    }
    if (directory)
        closedir(directory);
    free(folder);
    for (uint32_t i = 0; i < recordings->count; i++)
        recordings->items[i].looked = true;
    if (any || !recordings->signals || recordings->played)
        return any;
    recordings->played = true;
    return play_together(recordings, &result->arena);
}
