#!/usr/bin/env python3
"""Nine CUDA programs that hang, all at once on one GPU: each has to end, with the cause and the line that wait.

    tests/gpu/at_once.py build FOLDER             here or there: compiles them (nvcc, sm_90)
    tests/gpu/at_once.py run FOLDER WEIR [ROUNDS] on the machine with the GPU: WEIR is the command, with libweir-gpu.so beside it

In each source, `// waits` marks the line that the first finding has to name. Prints a line for each program, what is wrong with it, and last
`N right, N wrong`; the exit status is 1 if one is wrong."""
import json
import pathlib
import subprocess
import sys
import time

HANG_AFTER, LIMIT = "2s", 100  # LIMIT: seconds for all of them together
MAIN = """
#include <cstdio>
template <typename... Given> void launch(bool together, int grid, int block, void (*kernel)(Given...), Given... given) {
    void *arguments[] = {(void *)&given...};
    if (together)
        cudaLaunchCooperativeKernel((void *)kernel, dim3(grid), dim3(block), arguments, 0, 0);
    else
        cudaLaunchKernel((void *)kernel, dim3(grid), dim3(block), arguments, 0, 0);
    printf("ended: %s\\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
template <typename Type> Type *zeros(int count) {
    Type *memory;
    cudaMalloc(&memory, count * sizeof(Type));
    cudaMemset(memory, 0, count * sizeof(Type));
    return memory;
}
"""
# Name: (source, words that the first finding has).
PROGRAMS = {
    "too_many": ("""
__global__ void kernel(unsigned *count, int *data) { // more CTAs than fit at once
    __shared__ char large[44000];
    large[threadIdx.x] = 1;
    __syncthreads();
    data[blockIdx.x] = large[(threadIdx.x + 1) % blockDim.x];
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(count, 1);
        while (atomicAdd(count, 0) < gridDim.x) { // waits
        }
    }
    __syncthreads();
}
int main() { launch(false, 3000, 256, kernel, zeros<unsigned>(1), zeros<int>(3000)); }
""", ["had not begun"]),
    "skipped": ("""
__global__ void kernel(unsigned *count, int *data) { // some CTAs do not come
    data[blockIdx.x] = 1;
    if (blockIdx.x % 8 == 5)
        return;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(count, 1);
        while (atomicAdd(count, 0) < gridDim.x) { // waits
        }
    }
    __syncthreads();
}
int main() { launch(false, 16, 64, kernel, zeros<unsigned>(1), zeros<int>(16)); }
""", ["CTAs 5, 13 have exited"]),
    "early": ("""
#include <cooperative_groups.h>
__global__ void kernel(int *data) {
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    data[at] = at;
    grid.sync();
    if (blockIdx.x == 31)
        return;
    data[at] += 1;
    grid.sync(); // waits
}
int main() { launch(true, 48, 128, kernel, zeros<int>(48 * 128)); }
""", ["the cooperative grid barrier", "CTA 31 has exited"]),
    "lanes": ("""
__global__ void kernel(int *data) {
    __shared__ volatile int flag;
    if (threadIdx.x == 0)
        flag = 0;
    __syncthreads();
    if (threadIdx.x < 20) {
        __syncwarp();
        flag = 1;
    } else {
        while (flag == 0) { // waits
        }
        __syncwarp();
    }
    data[threadIdx.x] = flag;
}
int main() { launch(false, 1, 32, kernel, zeros<int>(32)); }
""", ["deadlock.spin"]),
    "atomic": ("""
#include <cuda/atomic>
using Flag = cuda::atomic<int, cuda::thread_scope_device>;
__global__ void kernel(Flag *flag, int *data) {
    if (blockIdx.x == 1) {
        data[threadIdx.x] = 1;
    } else {
        flag->wait(0, cuda::memory_order_acquire); // waits
        data[64 + threadIdx.x] = data[threadIdx.x];
    }
}
int main() { launch(false, 2, 64, kernel, zeros<Flag>(1), zeros<int>(128)); }
""", ["deadlock.spin"]),
    "semaphore": ("""
#include <cuda/semaphore>
using Semaphore = cuda::counting_semaphore<cuda::thread_scope_device>;
__global__ void kernel(Semaphore *semaphore, int *data) {
    data[blockIdx.x] = 1;
    if (blockIdx.x == 2 && threadIdx.x == 0)
        semaphore->acquire(); // waits
}
int main() { launch(false, 4, 32, kernel, zeros<Semaphore>(1), zeros<int>(4)); }
""", ["deadlock.spin"]),
    "lock": ("""
__global__ void kernel(int *lock, int *data) { // a lock that is not given back
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0) { // waits
        }
        data[0] += 1;
        __threadfence();
        if (blockIdx.x != 3)
            atomicExch(lock, 0);
    }
}
int main() { launch(false, 16, 32, kernel, zeros<int>(1), zeros<int>(1)); }
""", ["deadlock.spin"]),
    "mbarrier": ("""
#include <cuda/barrier>
__global__ void kernel(int *data) {
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    if (threadIdx.x == 0)
        init(&barrier, blockDim.x);
    __syncthreads();
    if (threadIdx.x < 96)
        barrier.arrive_and_wait(); // waits
    data[threadIdx.x] = 1;
}
int main() { launch(false, 1, 128, kernel, zeros<int>(128)); }
""", ["deadlock."]),
    "flag": ("""
__global__ void kernel(volatile int *flag, int *data) {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        data[0] = 7;
        __threadfence();
        flag[1] = 1; // the other word
    }
    if (blockIdx.x == 1 && threadIdx.x == 0) {
        while (flag[0] == 0) { // waits
        }
        data[1] = data[0];
    }
}
int main() { launch(false, 2, 32, kernel, (volatile int *)zeros<int>(2), zeros<int>(2)); }
""", ["deadlock.spin"]),
}


def build(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name, (source, _) in PROGRAMS.items():
        (folder / f"{name}.cu").write_text(MAIN + source)
        subprocess.run(["nvcc", "-arch", "sm_90", "-std=c++17", "-lineinfo", "-o", folder / name, folder / f"{name}.cu"], check=True)


def wrong_with(name, folder, status, text):
    """What is wrong with a report; None: nothing."""
    line = next(i for i, text in enumerate((folder / f"{name}.cu").read_text().splitlines(), 1) if "// waits" in text)
    try:
        findings = [f for launch in json.loads(text)["inputs"] for f in launch["findings"]]
    except (ValueError, KeyError) as problem:
        return f"no report (status {status}): {problem}"
    findings = [f for f in findings if f["rule"].startswith("deadlock.")]
    if not findings:
        return f"no deadlock is found (status {status})"
    place, text = findings[0]["places"][0], json.dumps(findings[0])
    if not place.get("file", "").endswith(f"{name}.cu") or place.get("line") != line:
        return f"it is at {place.get('file')}:{place.get('line')}, not at line {line}"
    for words in PROGRAMS[name][1]:
        if words not in text:
            return f"it does not say '{words}': {findings[0]['message']} {findings[0].get('why')}"
    return None


def run(folder, weir, rounds):
    wrong = 0
    for turn in range(rounds):
        begin, running = time.monotonic(), {}
        for name in PROGRAMS:
            report = folder / f"{name}.{turn}.json"
            running[name] = report, subprocess.Popen([weir, "exec", "--mode", "record", "--hang-after", HANG_AFTER, "--format", "json", "-o", report,
                                                      "--", folder / name], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for name, (report, process) in running.items():
            try:
                status = process.wait(max(1, LIMIT - (time.monotonic() - begin)))
                problem = wrong_with(name, folder, status, report.read_text() if report.exists() else "")
            except subprocess.TimeoutExpired:
                process.kill()
                problem = f"it did not end within {LIMIT} s"
            wrong += problem is not None
            print(f"{name}: {'right' if problem is None else 'WRONG: ' + problem}", flush=True)
        print(f"round {turn + 1}: {time.monotonic() - begin:.1f} s", flush=True)
    print(f"{rounds * len(PROGRAMS) - wrong} right, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in ("build", "run"):
        sys.exit(__doc__)
    if sys.argv[1] == "build":
        build(pathlib.Path(sys.argv[2]))
    else:
        sys.exit(run(pathlib.Path(sys.argv[2]).resolve(), sys.argv[3], int(sys.argv[4]) if len(sys.argv) > 4 else 1))
