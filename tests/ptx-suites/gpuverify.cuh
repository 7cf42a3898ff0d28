/* What GPUVerify's annotations mean to a compiler of CUDA: an assertion is CUDA's own; what speaks of two threads at
 * once or of the verifier's own state is nothing that a run could look at, and is true. Functions that a test declares
 * and leaves open get a body. */
#pragma once
#include <assert.h>
#undef __assert
#define __assert(e) assert(e)
#define __requires(e)
#define __ensures(e)
#define __assume(e)
#define __axiom(e)
#define __requires_fresh_array(e)
#define __invariant(e) ((void)0)
#define __global_invariant(e) ((void)0)
#define __implies(a, b) (!(a) || (b))
#define __enabled() true
#define __all(e) (__all_sync(__activemask(), e) != 0)
#define __uniform_int(e) true
#define __uniform_bool(e) true
#define __distinct_int(e) true
#define __other_int(e) (-1)
#define __no_read(p) true
#define __no_write(p) true
#define __read(p) false
#define __write(p) false
#define __read_implies(p, e) true
#define __write_implies(p, e) true
#define __exp10f(x) exp10f(x)
typedef unsigned int uint;

/* What GPUVerify's own cuda.h includes. */
#if defined(GPUVERIFY_GROUPS)
#include <cooperative_groups.h>
namespace cooperative_groups {
template <class Group> __device__ void synchronize(Group &group) { group.sync(); }
}
#endif
#if defined(GPUVERIFY_RANDOM)
#include <curand_kernel.h>
#endif
