/* A second opinion on Indigo's kernels, which shares nothing with Weir: their own sources run on the host, each thread as
 * a context of its own, and every access to memory is recorded. Two accesses to one element by different threads, at
 * least one of them a write and not both atomic, are a race unless a barrier of the CTA lies between them; an index
 * outside of memory is a fault. scripts/oracle/ptx-suites --oracle makes the program. */
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <ucontext.h>
#include <vector>

typedef int data_t;
struct Index {
    int x;
};
static Index threadIdx, blockIdx, blockDim, gridDim;

// ---- Threads ----

enum Wait { RUNS, AT_BARRIER, AT_SHUFFLE, ENDED };
struct Thread {
    ucontext_t context;
    std::unique_ptr<char[]> stack;
    Wait wait;
    int value, result, argument, kind; // of a shuffle, a vote or a barrier that counts
};
static std::vector<Thread> threads;
static ucontext_t scheduler;
static int current, interval; // of the CTA: barriers that it has passed

static void stop(Wait wait) {
    threads[current].wait = wait;
    swapcontext(&threads[current].context, &scheduler);
}

// ---- Memory and races ----

struct Access {
    int block, thread, interval;
    bool writes, atomic;
};
static std::map<std::pair<const void *, int>, std::vector<Access>> accesses;
static std::string race, fault;

static void record(const void *memory, int index, bool writes, bool atomic) {
    Access now = {blockIdx.x, current, interval, writes, atomic};
    for (const Access &before : accesses[{memory, index}]) {
        bool same = before.block == now.block && before.thread == now.thread;
        bool ordered = before.block == now.block && before.interval != now.interval;
        if (!same && !ordered && (before.writes || writes) && !(before.atomic && atomic) && race.empty())
            race = "race";
    }
    accesses[{memory, index}].push_back(now);
}

struct Array {
    std::vector<int> numbers;
    bool shared;
};

struct Reference;
struct Memory {
    Array *array;
    int offset;
    Reference operator[](int index) const;
};
struct Reference {
    Array *array;
    int index;
    int *place() const {
        static int outside;
        if (index < 0 || index >= (int)array->numbers.size()) {
            fault = "fault";
            return &outside;
        }
        return &array->numbers[index];
    }
    // What is shared belongs to one CTA: another CTA has another one.
    const void *whose() const { return array->shared ? (const void *)((const char *)array + blockIdx.x) : array; }
    operator int() const {
        record(whose(), index, false, false);
        return *place();
    }
    Reference &operator=(int value) {
        record(whose(), index, true, false);
        *place() = value;
        return *this;
    }
    Reference &operator=(const Reference &other) { return *this = (int)other; }
    Reference(const Reference &) = default;
    Reference(Array *array, int index) : array(array), index(index) {}
    Reference &operator+=(int value) { return *this = (int)*this + value; }
    int operator++(int) {
        int old = *this;
        *this = old + 1;
        return old;
    }
    Memory operator&() const { return {array, index}; }
};
inline Reference Memory::operator[](int index) const { return {array, offset + index}; }

struct Shared {
    Array array{std::vector<int>(1024, 0), true};
    Reference operator[](int index) { return {&array, index}; }
};

template <class Change> static int atomic(Memory at, Change change) {
    Reference place = at[0];
    record(place.whose(), place.index, true, true);
    int old = *place.place();
    *place.place() = change(old);
    return old;
}
static int atomicAdd(Memory at, int by) { return atomic(at, [by](int old) { return old + by; }); }
static int atomicMax(Memory at, int by) { return atomic(at, [by](int old) { return std::max(old, by); }); }
static int atomicMin(Memory at, int by) { return atomic(at, [by](int old) { return std::min(old, by); }); }
static int atomicRead(Memory at) { return atomic(at, [](int old) { return old; }); }
static void atomicWrite(Memory at, int value) { atomic(at, [value](int) { return value; }); }

static int max(int a, int b) { return std::max(a, b); }
static int min(int a, int b) { return std::min(a, b); }
static int __popc(unsigned bits) { return __builtin_popcount(bits); }

// ---- What threads do together ----

enum { PLAIN, ANY, COUNT, XOR, UP, BALLOT, VOTE_ANY };
static int together(Wait wait, int kind, int value, int argument) {
    threads[current].kind = kind;
    threads[current].value = value;
    threads[current].argument = argument;
    stop(wait);
    return threads[current].result;
}
static void __syncthreads() { together(AT_BARRIER, PLAIN, 0, 0); }
static int __syncthreads_or(int value) { return together(AT_BARRIER, ANY, value != 0, 0); }
static int __syncthreads_count(int value) { return together(AT_BARRIER, COUNT, value != 0, 0); }
static int __shfl_xor_sync(unsigned, int value, int mask) { return together(AT_SHUFFLE, XOR, value, mask); }
static int __shfl_up_sync(unsigned, int value, int by) { return together(AT_SHUFFLE, UP, value, by); }
static unsigned __ballot_sync(unsigned, int value) { return together(AT_SHUFFLE, BALLOT, value != 0, 0); }
static int __any_sync(unsigned, int value) { return together(AT_SHUFFLE, VOTE_ANY, value != 0, 0); }

static void settle(int from, int to, Wait wait) {
    int sum = 0;
    unsigned bits = 0;
    for (int i = from; i < to; i++)
        if (threads[i].wait == wait) {
            sum += threads[i].value;
            bits |= (unsigned)(threads[i].value != 0) << ((i - from) & 31);
        }
    for (int i = from; i < to; i++) {
        Thread &thread = threads[i];
        int lane = i - from, other = thread.kind == XOR ? lane ^ thread.argument : lane - thread.argument;
        if (thread.wait != wait)
            continue;
        if (thread.kind == XOR || thread.kind == UP)
            thread.result = other >= 0 && other < to - from ? threads[from + other].value : thread.value;
        else
            thread.result = thread.kind == BALLOT ? (int)bits : thread.kind == COUNT ? sum : sum != 0;
    }
    for (int i = from; i < to; i++)
        if (threads[i].wait == wait)
            threads[i].wait = RUNS;
}

// Whether every thread that has not ended waits there, and one does.
static bool all_at(int from, int to, Wait wait) {
    bool any = false;
    for (int i = from; i < to; i++) {
        if (threads[i].wait != wait && threads[i].wait != ENDED)
            return false;
        any |= threads[i].wait == wait;
    }
    return any;
}

// ---- Running ----

typedef void Kernel(Memory, Memory, Memory, Memory, int);
static Kernel *kernel;
static Array arrays[4];
static int vertices;

static void begin() {
    kernel({&arrays[0], 0}, {&arrays[1], 0}, {&arrays[2], 0}, {&arrays[3], 0}, vertices);
    stop(ENDED);
}

static void run_block(int count) {
    enum { STACK = 1 << 15 };
    threads.clear();
    threads.resize(count);
    interval = 0;
    for (Thread &thread : threads) {
        thread.stack.reset(new char[STACK]);
        getcontext(&thread.context);
        thread.context.uc_stack.ss_sp = thread.stack.get();
        thread.context.uc_stack.ss_size = STACK;
        thread.context.uc_link = nullptr;
        makecontext(&thread.context, begin, 0);
        thread.wait = RUNS;
    }
    for (bool moved = true; moved;) {
        moved = false;
        for (current = 0; current < count; current++) {
            if (threads[current].wait != RUNS)
                continue;
            threadIdx.x = current;
            swapcontext(&scheduler, &threads[current].context);
            moved = true;
        }
        for (int from = 0; from < count; from += 32)
            if (all_at(from, std::min(from + 32, count), AT_SHUFFLE)) {
                settle(from, std::min(from + 32, count), AT_SHUFFLE);
                moved = true;
            }
        if (all_at(0, count, AT_BARRIER)) {
            settle(0, count, AT_BARRIER);
            interval++;
            moved = true;
        }
    }
    for (const Thread &thread : threads)
        if (thread.wait != ENDED)
            fault = "hang";
}

static void judge(const char *name, Kernel *code, int grid, int block, const std::vector<int> &index,
                  const std::vector<int> &flat, const std::vector<int> &data1, const std::vector<int> &data2, int count) {
    const std::vector<int> *given[] = {&index, &flat, &data1, &data2};
    for (int i = 0; i < 4; i++)
        arrays[i] = {*given[i], false};
    accesses.clear();
    race.clear();
    fault.clear();
    kernel = code;
    vertices = count;
    blockDim.x = block;
    gridDim.x = grid;
    for (blockIdx.x = 0; blockIdx.x < grid; blockIdx.x++)
        run_block(block);
    std::string verdict = fault + (fault.empty() || race.empty() ? "" : "|") + race;
    bool tagged = strstr(name, "Bug");
    const char *why = "";
    if (tagged && verdict.empty())
        why = "the fault does not show with this graph";
    else if (!tagged && !verdict.empty())
        why = "reads what others write without a barrier, on purpose";
    printf("%s\t%s\t%s\n", name, verdict.empty() ? "clean" : verdict.c_str(), why);
}
