/* An access to bytes of one granule, and what is told of a race: for both layouts of cells. */
#ifndef DEVICE_TOUCH_H
#define DEVICE_TOUCH_H

#include "device/report.h"

enum { GRANULE_ALL = 0xffff, MOST_TRIES = 64, WRITE_TRIES = 3, STRONG_TRIES = 4, BATCH = 4 };

typedef struct Touch {
    uint64_t offset; /* of the granule, in the memory that has cells */
    uint32_t mask, site, kind, order;
} Touch;

/* Of the earlier one: its stamp, its scope, whether it was a read, its bytes of the granule. */
static inline void report(const View *view, const Touch *touch, uint32_t stamp, uint32_t scope, bool was_read,
                          uint32_t mask) {
    if (view->late && is_after(view, stamp))
        return;
    DeviceReported reported = {.address = view->here->real + touch->offset,
                               .mask = mask & touch->mask,
                               .site = touch->site,
                               .kind = touch->kind,
                               .order = touch->order,
                               .scope = view->scope,
                               .earlier_stamp = stamp,
                               .earlier_scope = scope,
                               .earlier_kind = was_read ? KIND_READ : KIND_WRITE};
    report_race(view, &reported);
}

#endif
