/* What AMD has for ops that share their fate: texts of the op table's AMD column.
 *
 *     exact: FORM              it becomes that, on every target
 *     exact on gfx1250: FORM   from that target on; "exact before gfx1250" up to it
 *     stage: FORM              the same, but only a whole stage can be waited for: all that came before
 *     none
 *
 * FORM may be "x, from gfx1250 on y". After a semicolon each follow a remark, and "before: why" (or "since: why") for
 * the targets that have none. */
#ifndef IR_AMD_FORMS_H
#define IR_AMD_FORMS_H

#define AS_ONE_BARRIER "; before: there is one s_barrier for the whole workgroup, which arrives and waits in one"
#define AS_NO_MOVER    "; before: there is no tensor data mover"
#define AS_NO_OBJECT   "; before: there is no barrier object in LDS"

#define AS_LDS_BARRIER                                                                                       \
    "exact on gfx1250: LDS barrier; it counts arrivals, no bytes, and orders no memory: fences go beside it" \
    "; before: there is no barrier object in LDS, only one s_barrier for the whole workgroup"
#define AS_COPIES_ARRIVE                                                                                  \
    "exact on gfx1250: ds_atomic_async_barrier_arrive_b64; for asynchronous loads, not for those of the " \
    "tensor data mover" AS_NO_OBJECT
#define AS_NAMED_BARRIER   "exact on gfx1250: named barrier; it orders no memory" AS_ONE_BARRIER
#define AS_NAMED_SIGNAL    "exact on gfx1250: s_barrier_signal; it orders no memory" AS_ONE_BARRIER
#define AS_CLUSTER_SIGNAL  "exact on gfx1250: s_barrier_signal -3, with a fence; before: there are no clusters"
#define AS_CLUSTER_WAIT    "exact on gfx1250: s_barrier_wait -3, with a fence; before: there are no clusters"
#define AS_CLUSTER_BARRIER "exact on gfx1250: cluster barrier -3, with fences; before: there are no clusters"
#define AS_TENSOR_LOAD                                                                                      \
    "stage on gfx1250: tensor_load_to_lds, with tensorcnt or one LDS barrier arrival a wave; no bytes are " \
    "counted" AS_NO_MOVER
#define AS_TENSOR_STORE "stage on gfx1250: tensor_store_from_lds, with tensorcnt" AS_NO_MOVER
#define AS_TENSOR_WAIT  "stage on gfx1250: s_wait_tensorcnt; it covers all that came before" AS_NO_MOVER
#define AS_NO_BYTES     "none; barriers count arrivals, not bytes: each wave of the copy arrives instead"
#define AS_NO_REMOTE    "none; LDS of another workgroup cannot be reached"
#define AS_NO_REDUCE    "none; the tensor data mover does not reduce: use atomics"
#define AS_SYNCHRONOUS  "exact: nothing; MFMA and WMMA are synchronous: a result is there when it is used"
#define AS_MMA_LAYOUTS \
    "layouts: the accumulator takes #ttg.amd_mfma (gfx1250: #ttg.amd_wmma), the operands dot_op layouts of it. "
#define AS_MMA                                                                                                        \
    "stage: MFMA, from gfx1250 on WMMA; " AS_MMA_LAYOUTS "Registers: operands in shared memory are loaded (ds_read) " \
    "before it. Waits: none for the result. What was to run beside it goes before it, and LDS may be overwritten "    \
    "once its loads are waited for and the waves have met at a barrier"
#define AS_MMA_TENSOR                                                                                                 \
    "Registers: the accumulator leaves tensor memory for the registers of the waves that multiply, and operands are " \
    "loaded (ds_read) before it. Waits: none for the result. Where it arrives on a barrier, the waves arrive after "  \
    "it, and other waves get the accumulator through LDS"
#define AS_TENSOR_MMA "stage: MFMA, from gfx1250 on WMMA; " AS_MMA_LAYOUTS AS_MMA_TENSOR
#define AS_SCALED_MMA \
    "stage: scaled MFMA (gfx942: scale, then MFMA), from gfx1250 on scaled WMMA; " AS_MMA_LAYOUTS AS_MMA_TENSOR
#define AS_MMA_COMMIT                                                                                 \
    "stage on gfx1250: LDS barrier arrival; the waves arrive after their MMAs, which are synchronous" \
    "; before: there is no barrier object in LDS: an s_barrier after the MMAs"
#define AS_NO_TENSOR \
    "none; there is no tensor memory: accumulators stay in registers, and go to other waves through LDS"
#define AS_NO_CLC     "none; there is no cluster launch control: use an atomic counter for the work"
#define AS_NO_OVERLAP "none; kernels of a stream do not overlap: nothing is to be waited for"
#define AS_NO_MATRIX  "none; each lane reads and writes its own elements of LDS"
#define AS_REGISTERS  "exact: nothing; descriptors live in registers"
#define AS_ONE_PATH   "exact: nothing; there is one memory path, so waits are enough"
#define AS_BARRIER    "exact: fence, s_barrier, fence"

#endif
