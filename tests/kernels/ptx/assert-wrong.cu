// Checks its argument.
#include <cassert>
extern "C" __global__ void checked(int *out, int n) {
    assert(n > 0);
    out[threadIdx.x] = n;
}
