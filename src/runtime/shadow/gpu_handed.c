/* Allocations that other processes get, as cuIpcGetMemHandle and cuIpcOpenMemHandle have it, which know none that is
 * mapped at addresses of one's own: the handle says which open file of which process it is, and who has the handle
 * takes that file from the process. */
#include "runtime/shadow/internal.h"

#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What is in the 64 bytes. */
typedef struct GpuShadowHanded {
    char mark[8];
    uint64_t process, file, number; /* number: of the handle, in its process */
    uint64_t bytes, whole;          /* as it was asked for, and as it is mapped */
} GpuShadowHanded;
_Static_assert(sizeof(GpuShadowHanded) <= sizeof(GpuShadowHandle), "it has room");

static const char mark[8] = "weirmem";

static GpuShadowHanded handed_of(const GpuShadowHandle *handle) {
    GpuShadowHanded handed;
    memcpy(&handed, handle, sizeof handed);
    return handed;
}

bool gpu_shadow_is_handle(const GpuShadowHandle *handle) {
    return memcmp(handle->bytes, mark, sizeof mark) == 0;
}

/* The same bytes each time, and for any address in it. */
bool gpu_shadow_hand_over(GpuShadow *shadow, uint64_t address, GpuShadowHandle *handle) {
    static uint64_t numbers;
    GpuShadowPiece *piece = shadow_piece(shadow, address);
    int file = -1;
    if (!piece || piece->opened || (!piece->file && mapping_export(&shadow->map, piece->handles[0], &file)))
        return false;
    if (!piece->file) {
        GpuShadowHanded handed = {.process = (uint64_t)getpid(),
                                  .file = (uint64_t)file,
                                  .number = numbers++,
                                  .bytes = piece->asked,
                                  .whole = piece->bytes};
        memcpy(handed.mark, mark, sizeof mark);
        memset(&piece->handle, 0, sizeof piece->handle);
        memcpy(&piece->handle, &handed, sizeof handed);
        piece->file = file + 1;
        prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0); /* else none but a parent could take it */
    }
    *handle = piece->handle;
    return true;
}

/* The file, in this process; -1: there is none, or it is not to be had. */
static int take_file(const GpuShadowHanded *handed) {
    if (handed->process == (uint64_t)getpid())
        return dup((int)handed->file);
    int process = (int)syscall(SYS_pidfd_open, (pid_t)handed->process, 0);
    int file = process < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, process, (int)handed->file, 0);
    if (process >= 0)
        close(process);
    return file;
}

static GpuShadowPiece *opened_by(const GpuShadow *shadow, const GpuShadowHandle *handle) {
    GpuShadowPiece *piece = shadow->pieces;
    while (piece && !(piece->opened && memcmp(&piece->handle, handle, sizeof *handle) == 0))
        piece = piece->next;
    return piece;
}

int gpu_shadow_take_over(GpuShadow *shadow, const GpuShadowHandle *handle, uint64_t *address, uint64_t *bytes) {
    GpuShadowHanded handed = handed_of(handle);
    GpuShadowPiece *piece = opened_by(shadow, handle);
    if (!piece) {
        int file = take_file(&handed);
        piece = file >= 0 ? shadow_take(shadow, handed.whole) : NULL;
        int result = piece ? shadow_fill(shadow, piece, handed.bytes, file) : file < 0 ? BAD_VALUE : NO_MEMORY;
        if (file >= 0)
            close(file);
        if (result)
            return result;
        piece->handle = *handle;
    }
    piece->opened++;
    *address = piece->address;
    *bytes = piece->asked;
    return 0;
}

bool gpu_shadow_hand_back(GpuShadow *shadow, uint64_t address, int *result) {
    GpuShadowPiece *piece = shadow_piece(shadow, address);
    if (!piece || !piece->opened || piece->address != address)
        return false;
    *result = --piece->opened ? 0 : gpu_shadow_release(shadow, address);
    return true;
}
