/* Recordings beside an order log: what launches touch of which it has no more than where they may. */
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

/* The file is of that launch. */
static void read_recording(const char *path, ProgramRecording *of, Arena *arena) {
    static const weir_run_options usual;
    weir_context *context = weir_create();
    weir_file *file = context ? weir_open(context, path) : NULL;
    weir_module *module = file ? weir_parse(file, 0, 0) : NULL;
    weir_result *recorded = module ? question_begin(module, &usual) : NULL;
    FindTouches find = {recorded, of, arena};
    of->known = recorded && recorded->result.recording && recorded->result.count == 1 && !*recorded->result.problem &&
                result_attempt(&recorded->result, find_touches, &find) && of->known;
    weir_result_free(recorded);
    weir_module_free(module);
    weir_close(file);
    weir_destroy(context);
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
    if (file && !setjmp(here) && recording_read_order(&recording, file, &arena) && recording.order)
        for (uint32_t i = 0; i < recordings->count; i++)
            if (!recordings->items[i].known && recordings->items[i].number == recording.launch.number &&
                recordings->items[i].process == recording.order->process)
                found = &recordings->items[i];
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
    return any;
}
