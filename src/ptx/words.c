/* Which words PTX has. The rows of ops/ptx.def have nearly all of them; those here are in no row, and ptxas knows them
 * all the same. A word in neither is a mistake, unless the module is of an ISA later than the one that the list is of.
 */
#include "ptx/internal.h"

static const char other_opcodes[] = "cctl cctlu setmaxreg setsmemsize";

static const char other_modifiers[] =
    "1d_buffer L2::no_allocate b2 collector::b0::discard collector::b0::fill collector::b0::lastuse collector::b0::use "
    "collector::b1::discard collector::b1::fill collector::b1::lastuse collector::b1::use collector::b2::discard "
    "collector::b2::fill collector::b2::lastuse collector::b2::use collector::b3::discard collector::b3::fill "
    "collector::b3::lastuse collector::b3::use dis e0m3x2 e0m3x4 en evict_first evict_last evict_normal "
    "evict_unchanged "
    "flush fused ignoreC ignoreC_pred inv invall lower::16b matrix::A matrix::D matrix::scaleA matrix::scaleB "
    "matrix::sparseMetadata maxabs mbarrier::meet_tx::bytes multicast negA negB no_allocate no_membermask_overlap one "
    "regoffset safeadd thread transA transB try_alloc tx ue8m0x4 unanimous";

Str unknown_word(Str form) {
    Str opcode = next_part(&form);
    if (!ptx_is_opcode(opcode) && word_place(opcode, other_opcodes) < 0)
        return opcode;
    while (form.size) {
        Str word = next_part(&form);
        if (!ptx_is_modifier(word) && word_place(word, other_modifiers) < 0)
            return word;
    }
    return (Str){"", 0};
}
