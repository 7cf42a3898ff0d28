/* Families of instructions that are not written yet: nothing is theirs. Gone when they are.
 *
 * By which files are there, and not by weak symbols, since a library's linker is content with a weak one. */
#include "emulate/ptx/machine.h"
#include "emulate/ptx/prepare.h"

#define MISSING(name)                                   \
    bool name(const PtxPrepare *about, PtxCode *code) { \
        (void)about, (void)code;                        \
        return false;                                   \
    }
#if !__has_include("emulate/ptx/control.c")
MISSING(control_prepare)
#endif
#if !__has_include("emulate/ptx/compute.c")
MISSING(compute_prepare)
#endif
#if !__has_include("emulate/ptx/warp_values.c")
MISSING(warp_prepare)
#endif
#if !__has_include("emulate/ptx/matrix.c")
MISSING(matrix_prepare)
#endif
#if !__has_include("emulate/ptx/tensor.c")
MISSING(tensor_prepare)
void tensor_cta_begin(PtxMachine *machine, PtxCta *cta) {
    (void)machine, (void)cta;
}
#endif
#if !__has_include("emulate/ptx/barriers.c")
MISSING(barrier_prepare)
void barriers_cta_begin(PtxMachine *machine, PtxCta *cta) {
    (void)machine, (void)cta;
}
void barriers_exit(PtxMachine *machine, PtxWarp *warp, uint32_t lanes) {
    (void)machine, (void)warp, (void)lanes;
}
bool barriers_passes(const PtxMachine *machine, const PtxGroup *group) {
    (void)machine, (void)group;
    return false;
}
#endif
#if !__has_include("emulate/ptx/copies.c")
MISSING(copy_prepare)
#endif
#if !__has_include("emulate/ptx/access.c")
MISSING(access_prepare)
#endif
#if !__has_include("emulate/ptx/textures.c")
MISSING(texture_prepare)
#endif
