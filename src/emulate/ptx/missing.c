/* Families of instructions that are not written yet: nothing is theirs. Gone when they are. */
#include "emulate/ptx/machine.h"
#include "emulate/ptx/prepare.h"

#define MISSING(name)                                                         \
    __attribute__((weak)) bool name(const PtxPrepare *about, PtxCode *code) { \
        (void)about, (void)code;                                              \
        return false;                                                         \
    }
MISSING(control_prepare)
MISSING(compute_prepare)
MISSING(warp_prepare)
MISSING(matrix_prepare)
MISSING(tensor_prepare)
MISSING(barrier_prepare)
MISSING(copy_prepare)
MISSING(access_prepare)
MISSING(texture_prepare)
__attribute__((weak)) void barriers_cta_begin(PtxMachine *machine, PtxCta *cta) {
    (void)machine, (void)cta;
}
__attribute__((weak)) void barriers_exit(PtxMachine *machine, PtxWarp *warp, uint32_t lanes) {
    (void)machine, (void)warp, (void)lanes;
}
__attribute__((weak)) void tensor_cta_begin(PtxMachine *machine, PtxCta *cta) {
    (void)machine, (void)cta;
}
__attribute__((weak)) bool barriers_passes(const PtxMachine *machine, const PtxGroup *group) {
    (void)machine, (void)group;
    return false;
}
