/* Entry points of the driver that put something into a stream, or wait for one: all that order launches. Forms of one
 * (_v2) have the same arguments, as which of them is given is up to the driver. Arguments are words; which of them is
 * the stream is the last number, from 1 (0: it has none, and uses that of none). */
#ifndef RUNTIME_HOOKS_ORDER_H
#define RUNTIME_HOOKS_ORDER_H

/* Name as cuGetProcAddress is asked for it, name as the linker has it (without the ending of per-thread streams), what
 * it is for gpu_order.c, how many arguments it has, which is the stream. */
#define ORDER_ASYNC(X)                                                                      \
    X(cuMemcpyAsync, cuMemcpyAsync, COPY_TO_HOST, 4, 4)                                     \
    X(cuMemcpyPeerAsync, cuMemcpyPeerAsync, COPY_PEER, 6, 6)                                \
    X(cuMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2, COPY, 4, 4)                                  \
    X(cuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2, COPY_TO_HOST, 4, 4)                          \
    X(cuMemcpyDtoDAsync, cuMemcpyDtoDAsync_v2, COPY, 4, 4)                                  \
    X(cuMemcpyHtoAAsync, cuMemcpyHtoAAsync_v2, COPY_TO_ARRAY, 5, 5)                         \
    X(cuMemcpyAtoHAsync, cuMemcpyAtoHAsync_v2, COPY_FROM_ARRAY, 5, 5)                       \
    X(cuMemcpy2DAsync, cuMemcpy2DAsync_v2, COPY_ROWS, 2, 2)                                 \
    X(cuMemcpy3DAsync, cuMemcpy3DAsync_v2, COPY_SLICES, 2, 2)                               \
    X(cuMemcpy3DPeerAsync, cuMemcpy3DPeerAsync, COPY_SLICES, 2, 2)                          \
    X(cuMemsetD8Async, cuMemsetD8Async, SET_8, 4, 4)                                        \
    X(cuMemsetD16Async, cuMemsetD16Async, SET_16, 4, 4)                                     \
    X(cuMemsetD32Async, cuMemsetD32Async, SET_32, 4, 4)                                     \
    X(cuMemsetD2D8Async, cuMemsetD2D8Async, SET_ROWS_8, 6, 6)                               \
    X(cuMemsetD2D16Async, cuMemsetD2D16Async, SET_ROWS_16, 6, 6)                            \
    X(cuMemsetD2D32Async, cuMemsetD2D32Async, SET_ROWS_32, 6, 6)                            \
    X(cuMemcpyBatchAsync, cuMemcpyBatchAsync, COPY_MANY, 9, 9)                              \
    X(cuMemcpyBatchAsync, cuMemcpyBatchAsync_v2, COPY_MANY, 8, 8)                           \
    X(cuMemPrefetchAsync, cuMemPrefetchAsync, WORK, 4, 4)                                   \
    X(cuMemPrefetchAsync, cuMemPrefetchAsync_v2, WORK, 5, 5)                                \
    X(cuMemPrefetchBatchAsync, cuMemPrefetchBatchAsync, WORK, 8, 8)                         \
    X(cuGraphUpload, cuGraphUpload, WORK, 2, 2)                                             \
    X(cuStreamAttachMemAsync, cuStreamAttachMemAsync, WORK, 4, 1)                           \
    X(cuMemMapArrayAsync, cuMemMapArrayAsync, WORK, 3, 3)                                   \
    X(cuStreamSynchronize, cuStreamSynchronize, WAITS, 1, 1)                                \
    X(cuStreamQuery, cuStreamQuery, WAITS, 1, 1)                                            \
    X(cuStreamWaitEvent, cuStreamWaitEvent, WAIT_EVENT, 3, 1)                               \
    X(cuEventRecord, cuEventRecord, RECORD_EVENT, 2, 2)                                     \
    X(cuEventRecordWithFlags, cuEventRecordWithFlags, RECORD_EVENT, 3, 2)                   \
    X(cuLaunchHostFunc, cuLaunchHostFunc, REPORTS_HOST, 3, 1)                               \
    X(cuStreamAddCallback, cuStreamAddCallback, REPORTS_HOST, 4, 1)                         \
    X(cuStreamWriteValue32, cuStreamWriteValue32, REPORTS_HOST, 4, 1)                       \
    X(cuStreamWriteValue32, cuStreamWriteValue32_v2, REPORTS_HOST, 4, 1)                    \
    X(cuStreamWriteValue64, cuStreamWriteValue64, REPORTS_HOST, 4, 1)                       \
    X(cuStreamWriteValue64, cuStreamWriteValue64_v2, REPORTS_HOST, 4, 1)                    \
    X(cuStreamWaitValue32, cuStreamWaitValue32, OPENS, 4, 1)                                \
    X(cuStreamWaitValue32, cuStreamWaitValue32_v2, OPENS, 4, 1)                             \
    X(cuStreamWaitValue64, cuStreamWaitValue64, OPENS, 4, 1)                                \
    X(cuStreamWaitValue64, cuStreamWaitValue64_v2, OPENS, 4, 1)                             \
    X(cuStreamBatchMemOp, cuStreamBatchMemOp, OPENS, 4, 1)                                  \
    X(cuStreamBatchMemOp, cuStreamBatchMemOp_v2, OPENS, 4, 1)                               \
    X(cuSignalExternalSemaphoresAsync, cuSignalExternalSemaphoresAsync, REPORTS_HOST, 4, 4) \
    X(cuWaitExternalSemaphoresAsync, cuWaitExternalSemaphoresAsync, OPENS, 4, 4)

/* In the stream of none. */
#define ORDER_SYNC(X)                                                     \
    X(cuMemcpy, cuMemcpy, COPY_WAITS, 3, 0)                               \
    X(cuMemcpyPeer, cuMemcpyPeer, COPY_PEER, 5, 0)                        \
    X(cuMemcpy3DPeer, cuMemcpy3DPeer, COPY_SLICES, 1, 0)                  \
    X(cuMemcpyHtoD, cuMemcpyHtoD_v2, COPY_WAITS, 3, 0)                    \
    X(cuMemcpyDtoH, cuMemcpyDtoH_v2, COPY_WAITS, 3, 0)                    \
    X(cuMemcpyDtoD, cuMemcpyDtoD_v2, COPY, 3, 0)                          \
    X(cuMemcpyDtoA, cuMemcpyDtoA_v2, COPY_TO_ARRAY, 4, 0)                 \
    X(cuMemcpyAtoD, cuMemcpyAtoD_v2, COPY_FROM_ARRAY, 4, 0)               \
    X(cuMemcpyHtoA, cuMemcpyHtoA_v2, COPY_TO_ARRAY_WAITS, 4, 0)           \
    X(cuMemcpyAtoH, cuMemcpyAtoH_v2, COPY_FROM_ARRAY_WAITS, 4, 0)         \
    X(cuMemcpyAtoA, cuMemcpyAtoA_v2, COPY_ARRAYS, 5, 0)                   \
    X(cuMemcpy2D, cuMemcpy2D_v2, COPY_ROWS_WAITS, 1, 0)                   \
    X(cuMemcpy2DUnaligned, cuMemcpy2DUnaligned_v2, COPY_ROWS_WAITS, 1, 0) \
    X(cuMemcpy3D, cuMemcpy3D_v2, COPY_SLICES_WAITS, 1, 0)                 \
    X(cuMemsetD8, cuMemsetD8_v2, SET_8, 3, 0)                             \
    X(cuMemsetD16, cuMemsetD16_v2, SET_16, 3, 0)                          \
    X(cuMemsetD32, cuMemsetD32_v2, SET_32, 3, 0)                          \
    X(cuMemsetD2D8, cuMemsetD2D8_v2, SET_ROWS_8, 5, 0)                    \
    X(cuMemsetD2D16, cuMemsetD2D16_v2, SET_ROWS_16, 5, 0)                 \
    X(cuMemsetD2D32, cuMemsetD2D32_v2, SET_ROWS_32, 5, 0)

/* Whichever stream the thread's is. */
#define ORDER_OTHERS(X)                                         \
    X(cuStreamDestroy, cuStreamDestroy, DESTROYS, 1, 1)         \
    X(cuStreamDestroy, cuStreamDestroy_v2, DESTROYS, 1, 1)      \
    X(cuEventSynchronize, cuEventSynchronize, HOST_EVENT, 1, 0) \
    X(cuEventQuery, cuEventQuery, HOST_EVENT, 1, 0)             \
    X(cuEventDestroy, cuEventDestroy, DESTROYS_EVENT, 1, 0)     \
    X(cuEventDestroy, cuEventDestroy_v2, DESTROYS_EVENT, 1, 0)  \
    X(cuCtxSynchronize, cuCtxSynchronize, WAITS_FOR_ALL, 1, 0)  \
    X(cuCtxSynchronize, cuCtxSynchronize_v2, WAITS_FOR_CONTEXT, 1, 0)

#endif
