/* The driver's entry points that recording needs, looked up once. */
#include "runtime/record/gpu.h"

static GpuDriver driver;
static const char *lacking;

static void look_up(void) {
#define LOOK_UP(field, exported, types)              \
    do {                                             \
        void *symbol = driver_symbol(#exported);     \
        driver.field = *(Result(**) types) & symbol; \
        if (!symbol && !lacking)                     \
            lacking = #exported;                     \
    } while (0);
    GPU_DRIVER(LOOK_UP)
#undef LOOK_UP
}

const GpuDriver *gpu_driver(const char **missing) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, look_up);
    if (missing)
        *missing = lacking;
    return lacking ? NULL : &driver;
}

GpuCapture gpu_capture(Handle stream) {
    int status = 0;
    if (!gpu_driver(NULL) || driver.stream_capturing(stream, &status) != 0)
        return CAPTURE_UNKNOWN;
    return status ? CAPTURE_ACTIVE : CAPTURE_NONE;
}

int gpu_relax(void) {
    int mode = CAPTURE_RELAXED;
    driver.capture_mode(&mode);
    return mode;
}

void gpu_relaxed(int mode) {
    driver.capture_mode(&mode);
}
