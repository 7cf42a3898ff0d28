/* T13: which launches does griddepcontrol.wait cover?
 *
 * A spins, then adds to a word; B (one or two of them) is launched as dependent on it, C as dependent on B or as an
 * ordinary launch. Each line tells of 1,000 repetitions in how many A was over when C began, in how many when C read
 * the word (after its wait, if it has one), and in how many B began while A ran. Takes 20 seconds. */
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

struct Shared {
    volatile unsigned x; // A adds to it, at its end
    volatile unsigned long long a_end, b_begin;
    volatile unsigned seen_first, seen_after; // x, as C reads it first, and after its wait
};

__device__ unsigned long long now() {
    unsigned long long t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
    return t;
}
__device__ void trigger() {
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
__device__ void wait() {
    asm volatile("griddepcontrol.wait;" ::: "memory");
}

__global__ void A(Shared *s, unsigned spin, int trig) {
    unsigned long long begin = now();
    if (trig == 1)
        trigger();
    while (now() - begin < spin)
        ;
    if (threadIdx.x == 0) {
        atomicAdd((unsigned *)&s->x, 1);
        s->a_end = now();
    }
    __threadfence();
    if (trig == 2)
        trigger();
}
__global__ void B(Shared *s, int first, int second) { /* 0: nothing, 1: trigger, 2: wait */
    if (threadIdx.x == 0 && blockIdx.x == 0)
        s->b_begin = now();
    if (first == 1)
        trigger();
    if (first == 2)
        wait();
    if (second == 1)
        trigger();
    if (second == 2)
        wait();
}
__global__ void C(Shared *s, int waits) {
    if (threadIdx.x || blockIdx.x)
        return;
    s->seen_first = s->x;
    if (waits)
        wait();
    s->seen_after = s->x;
}

static void check(cudaError_t e) {
    if (e) {
        printf("error: %s\n", cudaGetErrorString(e));
        exit(1);
    }
}
template <class... T, class... U>
static void launch(void (*f)(T...), int grid, bool dependent, cudaStream_t stream, U... with) {
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = 32;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = dependent ? 1 : 0;
    check(cudaLaunchKernelEx(&config, f, T(with)...));
}

int main(int count, char **words) {
    unsigned repetitions = count > 1 ? atoi(words[1]) : 1000, spin = count > 2 ? atoi(words[2]) : 150000;
    Shared *s, h;
    cudaStream_t stream;
    check(cudaMalloc(&s, sizeof *s));
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    static const char *a_names[] = {"never", "first", "last"};
    static const struct {
        int first, second;
        const char *name;
    } bs[] = {
        {0, 0, "returns"}, {1, 0, "triggers"}, {1, 2, "triggers,waits"}, {2, 1, "waits,triggers"}, {2, 0, "waits"}};
    printf("%-6s %-15s %-2s %-11s %5s | %s\n", "A trig", "B", "n", "C", "reps",
           "A over when C begins, A over when C reads (behind its wait, if any); B began before A ended");
    const int ctas = 4;
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 5; b++)
            for (int n = 1; n <= 2; n++)
                for (int c = 0; c < 3; c++) { // 0 dependent and waits, 1 dependent and does not, 2 normal
                    unsigned over_begin = 0, over_read = 0, beside = 0;
                    for (unsigned r = 0; r < repetitions; r++) {
                        check(cudaMemsetAsync(s, 0, sizeof *s, stream));
                        check(cudaStreamSynchronize(stream));
                        launch(A, ctas, false, stream, s, spin, a);
                        for (int i = 0; i < n; i++)
                            launch(B, 1, true, stream, s, bs[b].first, bs[b].second);
                        launch(C, 1, c != 2, stream, s, c == 0);
                        check(cudaStreamSynchronize(stream));
                        check(cudaMemcpy(&h, s, sizeof h, cudaMemcpyDeviceToHost));
                        over_begin += h.seen_first == (unsigned)ctas;
                        over_read += h.seen_after == (unsigned)ctas;
                        beside += h.b_begin < h.a_end;
                    }
                    printf("%-6s %-15s %-2d %-11s %5u | %5u %5u %5u\n", a_names[a], bs[b].name, n,
                           c == 0   ? "waits"
                           : c == 1 ? "never waits"
                                    : "normal",
                           repetitions, over_begin, over_read, beside);
                    fflush(stdout);
                }
    return 0;
}
