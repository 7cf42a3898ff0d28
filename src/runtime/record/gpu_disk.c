/* What recordings take on disk, and the limit of that (--record-disk). Others write to the folder, too, and recordings
 * are deleted once they were checked: the folder is looked at again and again. */
#include "runtime/record/gpu.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

enum { LOOK_AGAIN = 50000000, LOOK_SHARE = 16 }; /* nanoseconds; a look for each such share of the limit */

const char disk_full[] = "the recordings of this run take as much disk as --record-disk allows";

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static uint64_t there, since; /* bytes when it was last looked at, and that were written since */
static uint64_t looked_at;    /* when; 0: never */

static void look(void) {
    DIR *folder = opendir(gpu_options()->folder);
    struct stat of;
    looked_at = gpu_now();
    there = since = 0;
    for (const struct dirent *entry; folder && (entry = readdir(folder));)
        if (fstatat(dirfd(folder), entry->d_name, &of, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(of.st_mode))
            there += (uint64_t)of.st_size;
    if (folder)
        closedir(folder);
}

bool disk_has(uint64_t bytes) {
    uint64_t limit = gpu_options()->disk;
    if (!limit)
        return true;
    pthread_mutex_lock(&mutex);
    bool full = there + since + bytes > limit;
    if (!looked_at || ((full || since > limit / LOOK_SHARE) && gpu_now() - looked_at > LOOK_AGAIN))
        look();
    full = there + since + bytes > limit;
    pthread_mutex_unlock(&mutex);
    return !full;
}

bool disk_is_pressed(void) {
    pthread_mutex_lock(&mutex);
    bool pressed = gpu_options()->disk && there + since > gpu_options()->disk / 2;
    pthread_mutex_unlock(&mutex);
    return pressed;
}

void disk_takes(uint64_t bytes) {
    pthread_mutex_lock(&mutex);
    since += bytes;
    pthread_mutex_unlock(&mutex);
}
