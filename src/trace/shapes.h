/* What has to be known of the sites of a module to read the records of them (trace/stream.h). */
#ifndef TRACE_SHAPES_H
#define TRACE_SHAPES_H

#include "trace/sites.h"

/* One for each site. */
RecordShape *site_shapes(const Sites *sites, Arena *arena);

/* `bytes` bytes of a parameter of the kernel that was launched, 4 or 8 of them. */
typedef uint64_t SiteParameter(void *context, uint32_t variable, uint32_t offset, unsigned bytes);
/* Where a variable of shared memory is in the first CTA of a cluster, or a parameter by its generic address. *rank: by
 * how much it is further on in each next CTA of the cluster. */
typedef uint64_t SiteAddress(void *context, uint32_t variable, uint64_t *rank);
typedef struct SiteLaunch {
    SiteParameter *parameter;
    SiteAddress *address;
    void *context;
} SiteLaunch;
/* Values that are told of as others plus what the launch says: fills in how much that is, once for a launch of that
 * kernel. Without it, values are not what they were, but everything else is. */
void site_shapes_bind(RecordShape *shapes, const Sites *sites, uint32_t function, const SiteLaunch *launch,
                      Arena *arena);

/* Whether nothing in shapes of a table that came from a file leads beyond what their records have. `warps`: of a CTA.
 */
bool site_shapes_fit(const RecordShape *shapes, const Sites *sites, uint32_t warps);
/* How much more than lane 0's value the value of a thread is, by its number in the CTA: of a RECORD_WARP. */
uint64_t site_offset(const SitePart *part, uint32_t thread);

#endif
