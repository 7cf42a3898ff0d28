/* PTX that does not stand in a file as it is: in an image of a program, among the lines of a log, in a recording; and
 * order logs of programs, which have none. */
#include "api/internal.h"

#include "check/launches/launches.h"
#include "check/program/check.h"

/* The text of an image; one that cannot be read is empty, and that is an error. NULL: there is no memory. */
static Source *unpacked_text(weir_file *file, size_t index, Diagnostics *diagnostics) {
    const char *problem;
    const Image *image = &file->images.items[file->texts[index]];
    Source *text = image_text(file->source, image, &problem);
    if (text)
        return text;
    text = source_copy(file->source->name, "", 0);
    if (text && image->kind == IMAGE_DAMAGED)
        diagnostics_add(diagnostics, SEVERITY_ERROR, NULL, 0, "%s", problem);
    else if (text)
        diagnostics_add(diagnostics, SEVERITY_ERROR, NULL, 0, "PTX image %zu of this file: %s", index + 1, problem);
    return text;
}

/* One module of a log. NULL: there is no memory. */
static Source *text_of_log(weir_file *file, size_t index) {
    const Unit *unit = &file->units.items[index];
    Source *text = source_copy(file->source->name, file->source->data + unit->begin, unit->end - unit->begin);
    if (text)
        text->lines_before = source_place(file->source, unit->begin).line - 1;
    return text;
}

/* Copies of the program, from the file beside the recording. */
static void read_copies(weir_module *module, const char *path) {
    char name[4096];
    const char *slash = strrchr(path, '/');
    if (!module->recording.order)
        return;
    recording_copies_name(name, sizeof name, path, slash ? (size_t)(slash - path) : 0,
                          module->recording.order->process);
    FILE *file = fopen(name, "rb");
    RecordingCopies *copies = ARENA_NEW(&module->recorded, RecordingCopies);
    if (!file)
        return;
    if (!recording_copies_read(copies, file, &module->recorded))
        copies->broken = true;
    module->recording.copies = copies;
    fclose(file);
}

/* A text that has a name alone; none: it is empty. NULL: there is no memory. */
static Source *named_text(const weir_file *file, const char *name) {
    Text made = {0};
    if (name)
        text_addf(&made, ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry %s()\n{\n\tret;\n}\n", name);
    Source *text = source_copy(file->source->name, name ? made.data : "", made.size);
    text_free(&made);
    return text;
}

/* The PTX of a recording. Of a kernel that has none, a text that has its name alone. NULL: there is no memory. */
static Source *recorded_text(weir_file *file, weir_module *module) {
    static const size_t most = (size_t)1 << 36; /* of packed chunks; what is zero takes no memory */
    const char *problem = NULL;
    Recording *recording = &module->recording;
    jmp_buf here;
    Source *text = NULL;
    arena_init(&module->recorded, most);
    module->recorded.exhausted = &here;
    if (setjmp(here))
        return NULL;
    bool good =
        recording_read(recording, (const uint8_t *)file->source->data, file->source->size, &module->recorded, &problem);
    if (good)
        read_copies(module, file->source->name);
    if (good && recording->ptx.size) {
        text = source_copy(file->source->name, recording->ptx.data, recording->ptx.size);
    } else {
        text = named_text(file, good ? recording->kernel : NULL);
    }
    if (text && !good)
        diagnostics_add(&module->diagnostics, SEVERITY_ERROR, NULL, 0, "%s", problem);
    module->recorded.exhausted = NULL;
    return text;
}

static bool read_program(weir_module *module) {
    return launches_in(module->program) ? launches_read(module->program, &module->diagnostics)
                                        : program_log_read(module->program, &module->diagnostics);
}

void log_read_now(weir_module *module) {
    if (module->later)
        module->ok = read_program(module);
    module->later = false;
}

Source *text_of_module(weir_file *file, weir_module *module, size_t index, unsigned flags) {
    if (file->container)
        return module->text = unpacked_text(file, index, &module->diagnostics);
    if (file->log)
        return module->text = text_of_log(file, index);
    if (file->recorded)
        return module->text = recorded_text(file, module);
    if (file->program) {
        module->program = file->source;
        bool launches = launches_in(file->source);
        module->later = !launches && flags & WEIR_LOG_LATER;
        bool good = module->later || read_program(module);
        return module->text = named_text(file, !good ? NULL : launches ? "kernel" : "program");
    }
    return file->source;
}
