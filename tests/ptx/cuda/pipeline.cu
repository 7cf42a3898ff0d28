// libcu++: barriers, pipelines with roles, asynchronous copies, latches, semaphores.
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/pipeline>
#include <cuda/semaphore>

namespace cg = cooperative_groups;

extern "C" __global__ void stages(float *out, const float *in, int tiles) {
    constexpr int STAGES = 3;
    extern __shared__ float4 slots[];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    auto block = cg::this_thread_block();
    auto pipeline = cuda::make_pipeline(block, &state);
    const float4 *from = reinterpret_cast<const float4 *>(in);
    float total = 0;
    for (int next = 0, tile = 0; tile < tiles; tile++) {
        for (; next < tiles && next < tile + STAGES; next++) {
            pipeline.producer_acquire();
            cuda::memcpy_async(block, slots + (next % STAGES) * blockDim.x, from + next * blockDim.x,
                               cuda::aligned_size_t<16>(sizeof(float4) * blockDim.x), pipeline);
            pipeline.producer_commit();
        }
        pipeline.consumer_wait();
        total += slots[(tile % STAGES) * blockDim.x + (threadIdx.x ^ 1)].y;
        pipeline.consumer_release();
    }
    out[threadIdx.x] = total;
}

extern "C" __global__ void roles(int *out, const int *in, int rounds) {
    __shared__ int buffer[2][128];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto block = cg::this_thread_block();
    bool produces = threadIdx.x < blockDim.x / 2;
    auto pipeline = cuda::make_pipeline(block, &state, produces ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
    int lane = threadIdx.x % 128, sum = 0;
    for (int round = 0; round < rounds; round++) {
        if (produces) {
            pipeline.producer_acquire();
            cuda::memcpy_async(&buffer[round & 1][lane], &in[128 * round + lane], sizeof(int), pipeline);
            pipeline.producer_commit();
        } else {
            pipeline.consumer_wait();
            sum += buffer[round & 1][127 - lane];
            pipeline.consumer_release();
        }
    }
    out[threadIdx.x] = sum;
}

extern "C" __global__ void own(int *out, const int *in) {
    __shared__ int tile[256];
    auto pipeline = cuda::make_pipeline();
    pipeline.producer_acquire();
    cuda::memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], cuda::aligned_size_t<4>(4), pipeline);
    pipeline.producer_commit();
    cuda::pipeline_consumer_wait_prior<0>(pipeline);
    out[threadIdx.x] = tile[threadIdx.x];
    pipeline.consumer_release();
}

extern "C" __global__ void barriers(int *out, cuda::barrier<cuda::thread_scope_device> *wide,
                                    cuda::binary_semaphore<cuda::thread_scope_device> *lock,
                                    cuda::latch<cuda::thread_scope_device> *latch) {
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    if (threadIdx.x == 0)
        init(&barrier, blockDim.x);
    __syncthreads();
    auto token = barrier.arrive();
    out[threadIdx.x] = 1;
    barrier.wait(std::move(token));
    if (threadIdx.x % 32 == 31)
        barrier.arrive_and_drop();
    else
        barrier.wait_parity(true);
    wide->arrive_and_wait();
    lock->acquire();
    out[0]++;
    lock->release();
    latch->count_down();
    latch->wait();
}
