/* The meeting of a cluster after its mbarriers are set up.
 *
 * A CTA may signal an mbarrier of another one only when that one has initialized it and said so to the cluster: a fence
 * (ttng.fence_mbarrier_init_release_cluster), then a barrier of the cluster, which may be relaxed. From Triton 3.8 on
 * kernels do not write them; the compiler puts them in with its thread barriers. Meta's fork puts them in when it
 * lowers the IR. */
#ifndef MODEL_MEMORY_HANDSHAKE_H
#define MODEL_MEMORY_HANDSHAKE_H

#include "base/pointers.h"
#include "ir/ir.h"

/* What is not there yet. */
typedef struct Handshake {
    const Op *at; /* the fence goes right before it; NULL: none is needed, or there is no place for it */
    bool barrier; /* behind the fence, a relaxed barrier of the cluster; else there is one already */
} Handshake;

/* Where Triton puts it: after all initializations of mbarriers that CTAs share or signal in each other, before all uses
 * of them, as late as it can. `planned` has ops before which a barrier of the cluster will be; NULL: there are none. */
Handshake handshake_of(Module *module, const Op *function, const Pointers *planned, Arena *arena);
/* ... where Meta's fork puts it, if a CTA reaches into another one: after the last initialization in the first block.
 * Where that comes behind ops that do so, the fork moves all initializations of the block to its begin, with what they
 * need; so does this. */
Handshake handshake_of_fork(Module *module, const Op *function);

#endif
