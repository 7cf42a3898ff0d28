"""Litmus tests of what is asynchronous: one entry each, with its threads, whether it has a race, and what may be seen.

A role is one thread: in tests of one CTA the first of each warp, in tests of two CTAs (`pair`, or `cluster`) the first of
each CTA; in tests of a warpgroup (`group`) the role is that of all its threads. `mem` is a piece of global memory of the test's own: words 0 to 15 are 1, words 16 to 31 are 2, the others 0.
`buf` is shared memory, zero when the roles begin; `bar` has mbarriers, made with the counts of `bars`. What a role puts
into %v0, %v1, ... and stores with `out(i)` is the outcome.
"""

TESTS = []


def test(name, verdict, outcomes, *roles, bars=(), pair=False, cluster=False, map=False, group=False, why=""):
    """verdict: "race" or "clean". outcomes: those that the model allows; those after | only because there is a race."""
    TESTS.append(dict(name=name, verdict=verdict, outcomes=outcomes, roles=roles, bars=bars, pair=pair, cluster=cluster, map=map, group=group, why=why))


def out(*numbers):
    return [f"st.global.b32 [%out+{4 * n}], %v{n};" for n in numbers]


LABEL = [0]


def label():
    LABEL[0] += 1
    return f"L{LABEL[0]}"


def wait(bar, parity=0, sem=""):
    """Waits for a phase of a shared mbarrier."""
    again = label()
    return [f"{again}:", f"mbarrier.try_wait.parity{sem}.shared::cta.b64 %p1, [bar+{8 * bar}], {parity};", f"@!%p1 bra {again};"]


def spin(place, sem=".acquire.gpu", space=".global"):
    again = label()
    return [f"{again}:", f"ld{sem}{space}.b32 %t0, [{place}];", "setp.eq.u32 %p1, %t0, 0;", f"@%p1 bra {again};"]


def remote(register, symbol, rank):
    return [f"mov.u32 %t1, {symbol};", f"mapa.shared::cluster.u32 {register}, %t1, {rank};"]


SYNC = ["bar.sync 1;"]
CLUSTER = ["barrier.cluster.arrive.release.aligned;", "barrier.cluster.wait.acquire.aligned;"]
FENCE = ["fence.proxy.async;"]
FENCE_SHARED = ["fence.proxy.async.shared::cta;"]
FENCE_GLOBAL = ["fence.proxy.async.global;"]
COMMIT, WAIT0 = ["cp.async.commit_group;"], ["cp.async.wait_group 0;"]
BULK_COMMIT, BULK_WAIT, BULK_WAIT_READ = ["cp.async.bulk.commit_group;"], ["cp.async.bulk.wait_group 0;"], ["cp.async.bulk.wait_group.read 0;"]


def read(n, place="buf", space=".shared"):
    return [f"ld{space}.b32 %v{n}, [{place}];"] + out(n)


def write(value, place="buf", space=".shared"):
    return [f"st{space}.b32 [{place}], {value};"]


# ---- cp.async: copies of a thread, in the generic proxy ----

COPY = ["cp.async.ca.shared.global [buf], [%mem], 4;"]
COPY_NEXT = ["cp.async.ca.shared.global [buf+64], [%mem+64], 4;"]

test("cp-async-wait", "clean", "1", COPY + COMMIT + WAIT0 + read(0))
test("cp-async-wait-all", "clean", "1", COPY + ["cp.async.wait_all;"] + read(0))
test("cp-async-no-wait", "race", "1 | 0", COPY + COMMIT + read(0) + WAIT0, why="the copy is in flight")
test("cp-async-not-committed", "race", "1 | 0", COPY + WAIT0 + read(0) + COMMIT + WAIT0, why="wait_group waits for groups, and the copy is in none")
test("cp-async-older-group", "clean", "1", COPY + COMMIT + COPY_NEXT + COMMIT + ["cp.async.wait_group 1;"] + read(0) + WAIT0)
test("cp-async-newest-group", "race", "2 | 0", COPY + COMMIT + COPY_NEXT + COMMIT + ["cp.async.wait_group 1;"] + read(0, "buf+64") + WAIT0,
     why="wait_group 1 leaves the newest group in flight")
test("cp-async-barrier", "clean", "1", COPY + COMMIT + WAIT0 + SYNC, SYNC + read(0))
test("cp-async-no-barrier", "race", "1 | 0", COPY + COMMIT + WAIT0, read(0), why="only the thread that issued the copy waits for it")
test("cp-async-barrier-early", "race", "1 | 0", COPY + COMMIT + SYNC + WAIT0, SYNC + read(0), why="the barrier is before the wait")
test("cp-async-reader-waits", "race", "1 | 0", COPY + COMMIT + SYNC + WAIT0, SYNC + COMMIT + WAIT0 + read(0), why="wait_group is for the thread's own copies")
test("cp-async-mbarrier", "clean", "1", COPY + ["cp.async.mbarrier.arrive.noinc.shared::cta.b64 [bar];"], wait(0) + read(0), bars=(1,))
test("cp-async-mbarrier-early", "race", "1 | 0", ["cp.async.mbarrier.arrive.noinc.shared::cta.b64 [bar];"] + COPY + COMMIT + WAIT0, wait(0) + read(0), bars=(1,),
     why="the mbarrier tracks copies issued before")
test("cp-async-mbarrier-pending", "clean", "1", COPY + ["cp.async.mbarrier.arrive.shared::cta.b64 [bar];", "mbarrier.arrive.shared::cta.b64 _, [bar];"],
     wait(0) + read(0), bars=(1,), why="without .noinc an arrival is added first: the phase needs the thread's own, too")
test("cp-async-source-overwritten", "race", "1 | 9", COPY + COMMIT + write(9, "%mem", ".global") + WAIT0 + read(0), why="the copy reads its source until it is over")
test("cp-async-source-after-wait", "clean", "1", COPY + COMMIT + WAIT0 + write(9, "%mem", ".global") + read(0))
test("cp-async-source-before", "clean", "9", write(9, "%mem", ".global") + COPY + COMMIT + WAIT0 + read(0), why="the copy is behind what its thread did before")
test("cp-async-target-before", "clean", "1", write(9) + COPY + COMMIT + WAIT0 + read(0))
test("cp-async-target-after", "race", "1 9", COPY + COMMIT + write(9) + WAIT0 + read(0), why="the store and the copy write the same bytes in no order")
test("cp-async-two-targets", "race", "1 2", COPY + ["cp.async.ca.shared.global [buf], [%mem+64], 4;"] + COMMIT + WAIT0 + read(0),
     why="two copies of a thread are in no order")

# ---- Bulk copies to shared memory ----

EXPECT = ["mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 16;"]
BULK = ["cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [buf], [%mem], 16, [bar];"]

test("bulk-load-wait", "clean", "1", EXPECT + BULK, wait(0) + read(0), bars=(1,))
test("bulk-load-issuer-waits", "clean", "1", EXPECT + BULK + wait(0) + read(0), bars=(1,))
test("bulk-load-no-wait", "race", "1 | 0", EXPECT + BULK + SYNC + wait(0), SYNC + read(0), bars=(1,), why="a barrier of threads does not wait for copies")
test("bulk-load-passed-on", "clean", "1", EXPECT + BULK + wait(0) + SYNC, SYNC + read(0), bars=(1,), why="whoever waited passes it on by a barrier")
test("bulk-load-test-only", "race", "1 | 0", EXPECT + BULK + wait(0), ["mbarrier.test_wait.parity.shared::cta.b64 %p1, [bar], 0;"] + read(0), bars=(1,),
     why="a test that fails orders nothing")
test("bulk-load-test-guarded", "clean", "1 7",
     EXPECT + BULK + wait(0), ["mov.u32 %v0, 7;", "mbarrier.test_wait.parity.shared::cta.b64 %p1, [bar], 0;", "@%p1 ld.shared.b32 %v0, [buf];"] + out(0), bars=(1,))
test("bulk-load-wrong-parity", "race", "1 -1 | 0", EXPECT + BULK + wait(0), ["mbarrier.test_wait.parity.shared::cta.b64 %p1, [bar], 1;", "@!%p1 bra LATE;"] + read(0) + ["LATE:"],
     bars=(1,), why="parity 1 is that of the phase before the first, which is over")
test("bulk-load-other-data", "race", "5 | 0", EXPECT + write(5, "buf+64") + BULK, wait(0) + read(0, "buf+64"), bars=(1,),
     why="the copy's completion publishes its own bytes alone, and the arrival was before the store")
test("bulk-load-other-data-before", "clean", "5", write(5, "buf+64") + EXPECT + BULK, wait(0) + read(0, "buf+64"), bars=(1,))
test("bulk-load-after-store", "race", "1 9", write(9) + EXPECT + BULK + wait(0) + read(0), bars=(1,), why="a store by the generic proxy, and no fence before the copy")
test("bulk-load-after-store-fenced", "clean", "1", write(9) + FENCE_SHARED + EXPECT + BULK + wait(0) + read(0), bars=(1,))
test("bulk-load-after-store-other-fence", "race", "1 9", write(9) + FENCE_GLOBAL + EXPECT + BULK + wait(0) + read(0), bars=(1,),
     why="the fence is for global memory")
test("bulk-load-writer-fences", "clean", "1", SYNC + EXPECT + BULK + wait(0) + read(0), write(9) + FENCE_SHARED + SYNC, bars=(1,))
test("bulk-load-issuer-fences", "clean", "1", SYNC + FENCE_SHARED + EXPECT + BULK + wait(0) + read(0), write(9) + SYNC, bars=(1,),
     why="a fence anywhere on the way will do")
test("bulk-load-fence-too-early", "race", "1 9", SYNC + EXPECT + BULK + wait(0) + read(0), FENCE_SHARED + write(9) + SYNC, bars=(1,))
test("bulk-load-after-read", "race", "0 | 1", SYNC + EXPECT + BULK + wait(0), read(0) + SYNC, bars=(1,),
     why="a read by the generic proxy, and no fence before the copy writes")
test("bulk-load-after-read-fenced", "clean", "0", SYNC + EXPECT + BULK + wait(0), read(0) + FENCE_SHARED + SYNC, bars=(1,))
test("bulk-load-source", "race", "9 | 1", write(9, "%mem", ".global") + EXPECT + BULK + wait(0) + read(0), bars=(1,),
     why="the source was written by the generic proxy, and no fence is between")
test("bulk-load-source-fenced", "clean", "9", write(9, "%mem", ".global") + FENCE_GLOBAL + EXPECT + BULK + wait(0) + read(0), bars=(1,))
test("bulk-load-source-full-fence", "clean", "9", write(9, "%mem", ".global") + FENCE + EXPECT + BULK + wait(0) + read(0), bars=(1,))
test("bulk-load-source-other-fence", "race", "9 | 1", write(9, "%mem", ".global") + FENCE_SHARED + EXPECT + BULK + wait(0) + read(0), bars=(1,),
     why="the fence is for shared memory")
test("bulk-load-source-overwritten", "race", "1 | 9", EXPECT + BULK + write(9, "%mem", ".global") + wait(0) + read(0), bars=(1,), why="the copy reads its source until it is over")
test("bulk-load-two", "race", "1 2", ["mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 32;"] + BULK +
     ["cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [buf], [%mem+64], 16, [bar];"] + wait(0) + read(0), bars=(1,), why="two copies are in no order")
test("bulk-load-two-waited", "clean", "2", EXPECT + BULK + wait(0) + EXPECT +
     ["cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [buf], [%mem+64], 16, [bar];"] + wait(0, 1) + read(0), bars=(1,))

FLAG = "%mem+512"
PUBLISH = ["st.release.gpu.global.b32 [%mem+512], 1;"]
test("bulk-load-published-fenced", "clean", "9", write(9, "%mem", ".global") + PUBLISH, spin(FLAG) + FENCE + EXPECT + BULK + wait(0) + read(0), bars=(1,), pair=True)
test("bulk-load-published", "race", "9 | 1", write(9, "%mem", ".global") + PUBLISH, spin(FLAG) + EXPECT + BULK + wait(0) + read(0), bars=(1,), pair=True,
     why="the flag orders the threads, and no fence is before the copy")
test("bulk-load-published-writer-fences", "clean", "9", write(9, "%mem", ".global") + FENCE + PUBLISH, spin(FLAG) + EXPECT + BULK + wait(0) + read(0), bars=(1,), pair=True)
test("bulk-load-published-relaxed", "race", "9 | 1", write(9, "%mem", ".global") + ["st.relaxed.gpu.global.b32 [%mem+512], 1;"],
     spin(FLAG) + FENCE + EXPECT + BULK + wait(0) + read(0), bars=(1,), pair=True, why="the flag is not released")

# ---- Bulk copies from shared memory ----

STORE = ["cp.async.bulk.global.shared::cta.bulk_group [%mem+256], [buf], 16;"]
GOT = read(0, "%mem+256", ".global")
test("bulk-store-wait", "clean", "5", write(5) + FENCE_SHARED + STORE + BULK_COMMIT + BULK_WAIT + GOT)
test("bulk-store-no-fence", "race", "5 | 0", write(5) + STORE + BULK_COMMIT + BULK_WAIT + GOT, why="a store by the generic proxy, and no fence before the copy reads")
test("bulk-store-no-wait", "race", "5 | 0", write(5) + FENCE_SHARED + STORE + BULK_COMMIT + GOT + BULK_WAIT, why="the copy is in flight")
test("bulk-store-wait-read", "race", "5 | 0", write(5) + FENCE_SHARED + STORE + BULK_COMMIT + BULK_WAIT_READ + GOT + BULK_WAIT, why="wait_group.read waits for the reads alone")
test("bulk-store-not-committed", "race", "5 | 0", write(5) + FENCE_SHARED + STORE + BULK_WAIT + GOT + BULK_COMMIT + BULK_WAIT, why="the copy is in no group")
test("bulk-store-reuse", "clean", "5", write(5) + FENCE_SHARED + STORE + BULK_COMMIT + BULK_WAIT_READ + write(9) + BULK_WAIT + GOT)
test("bulk-store-reuse-early", "race", "5 | 9", write(5) + FENCE_SHARED + STORE + BULK_COMMIT + write(9) + BULK_WAIT + GOT, why="the copy reads its source until wait_group.read")
test("bulk-store-passed-on", "clean", "5", write(5) + FENCE_SHARED + STORE + BULK_COMMIT + BULK_WAIT + SYNC, SYNC + GOT)
test("bulk-store-reader-waits", "race", "5 | 0", write(5) + FENCE_SHARED + STORE + BULK_COMMIT + SYNC + BULK_WAIT, SYNC + BULK_COMMIT + BULK_WAIT + GOT,
     why="wait_group is for the thread's own copies")
test("bulk-store-published", "clean", "5", write(5) + FENCE_SHARED + STORE + BULK_COMMIT + BULK_WAIT + PUBLISH, spin(FLAG) + GOT, pair=True)
test("bulk-store-published-read", "race", "5 | 0", write(5) + FENCE_SHARED + STORE + BULK_COMMIT + BULK_WAIT_READ + PUBLISH + BULK_WAIT, spin(FLAG) + GOT, pair=True,
     why="wait_group.read waits for the reads alone")
STORE_NEXT = ["cp.async.bulk.global.shared::cta.bulk_group [%mem+256], [buf+64], 16;"]
TWO = write(5) + write(6, "buf+64") + FENCE_SHARED
test("bulk-store-two", "race", "5 6", TWO + STORE + STORE_NEXT + BULK_COMMIT + BULK_WAIT + GOT, why="two copies are in no order")
test("bulk-store-two-waited", "clean", "6", TWO + STORE + BULK_COMMIT + BULK_WAIT + STORE_NEXT + BULK_COMMIT + BULK_WAIT + GOT)
REDUCE = ["cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%mem+256], [buf], 16;"]
REDUCE_NEXT = ["cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%mem+256], [buf+64], 16;"]
test("bulk-reduce-two", "clean", "11", TWO + REDUCE + REDUCE_NEXT + BULK_COMMIT + BULK_WAIT + GOT, why="each addition is a relaxed atomic")
test("bulk-reduce-and-store", "race", "9 14 | 5", write(5) + FENCE_SHARED + REDUCE + BULK_COMMIT + write(9, "%mem+256", ".global") + BULK_WAIT + GOT, why="a weak store meets the additions")
test("bulk-store-exit", "clean", "5", write(5) + FENCE_SHARED + STORE + BULK_COMMIT + BULK_WAIT_READ + ["mov.u32 %v0, 5;"] + out(0),
     why="nothing reads the copy's target before the kernel ends, and its source has been read")

# ---- mbarriers between threads ----

ARRIVE = ["mbarrier.arrive.shared::cta.b64 _, [bar];"]
test("mbarrier-arrive", "clean", "5", write(5) + ARRIVE, wait(0) + read(0), bars=(1,))
test("mbarrier-arrive-early", "race", "5 | 0", ARRIVE + write(5), wait(0) + read(0), bars=(1,))
test("mbarrier-arrive-relaxed", "race", "5 | 0", write(5) + ["mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [bar];"], wait(0) + read(0), bars=(1,),
     why="the arrival releases nothing")
test("mbarrier-arrive-fenced", "clean", "5", write(5) + ["fence.acq_rel.cta;", "mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [bar];"], wait(0) + read(0), bars=(1,))
test("mbarrier-wait-relaxed", "race", "5 | 0", write(5) + ARRIVE, wait(0, 0, ".relaxed.cta") + read(0), bars=(1,), why="the wait acquires nothing")
test("mbarrier-wait-fenced", "clean", "5", write(5) + ARRIVE, wait(0, 0, ".relaxed.cta") + ["fence.acq_rel.cta;"] + read(0), bars=(1,))
test("mbarrier-two-arrivals", "clean", "5,6", write(5) + ARRIVE, write(6, "buf+64") + ARRIVE, wait(0) + read(0) + read(1, "buf+64"), bars=(2,))
test("mbarrier-reuse", "clean", "5,6", write(5) + ARRIVE + wait(1) + write(6) + ARRIVE,
     wait(0) + ["ld.shared.b32 %v0, [buf];", "mbarrier.arrive.shared::cta.b64 _, [bar+8];"] + wait(0, 1) + ["ld.shared.b32 %v1, [buf];"] + out(0, 1), bars=(1, 1))
test("mbarrier-reuse-early", "race", "5,6 | 6,6", write(5) + ARRIVE + write(6) + ["mbarrier.arrive.shared::cta.b64 _, [bar+8];"],
     wait(0) + ["ld.shared.b32 %v0, [buf];"] + wait(1) + ["ld.shared.b32 %v1, [buf];"] + out(0, 1), bars=(1, 1),
     why="nothing waits until the buffer has been read")
test("mbarrier-expect-only", "race", "5 | 0", write(5) + ["mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 4;", "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 4;"],
     ["mbarrier.arrive.shared::cta.b64 _, [bar];"] + wait(0) + read(0), bars=(1,), why="counting bytes releases nothing")

# ---- Clusters ----

PEER = remote("%t2", "buf", 1)
PEER_BAR = remote("%t3", "bar", 1)
REMOTE = ["st.shared::cluster.b32 [%t2], 5;"]
test("cluster-barrier", "clean", "5", PEER + REMOTE + CLUSTER, CLUSTER + read(0), cluster=True)
test("cluster-barrier-relaxed", "race", "5 | 0", PEER + REMOTE + ["barrier.cluster.arrive.relaxed.aligned;", "barrier.cluster.wait.acquire.aligned;"], CLUSTER + read(0), cluster=True,
     why="a relaxed arrival releases nothing")
test("cluster-barrier-between", "race", "5 | 0", PEER + ["barrier.cluster.arrive.release.aligned;"] + REMOTE + ["barrier.cluster.wait.acquire.aligned;"], CLUSTER + read(0), cluster=True,
     why="what is between arrive and wait is not ordered")
R_ARRIVE = ["mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%t3];"]
test("cluster-mbarrier", "clean", "5", PEER + PEER_BAR + REMOTE + R_ARRIVE, wait(0, 0, ".acquire.cluster") + read(0), bars=(1,), cluster=True)
test("cluster-mbarrier-cta-wait", "race", "5 | 0", PEER + PEER_BAR + REMOTE + R_ARRIVE, wait(0) + read(0), bars=(1,), cluster=True, why="the wait acquires at .cta, which does not have the other thread")
test("cluster-flag", "clean", "5", PEER + REMOTE + ["st.release.cluster.shared::cluster.b32 [%t2+64], 1;"], spin("buf+64", ".acquire.cluster", ".shared") + read(0), cluster=True)
test("cluster-flag-narrow", "race", "5 | 0", PEER + REMOTE + ["st.release.cta.shared::cluster.b32 [%t2+64], 1;"], spin("buf+64", ".acquire.cluster", ".shared") + read(0), cluster=True,
     why="the release is for its own CTA")
test("cluster-flag-weak", "race", "5 | 0", PEER + REMOTE + ["st.relaxed.cluster.shared::cluster.b32 [%t2+64], 1;"], spin("buf+64", ".acquire.cluster", ".shared") + read(0), cluster=True)
ST_ASYNC = ["st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%t2], 5, [%t3];"]
EXPECT4 = ["mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 4;"]
test("cluster-st-async", "clean", "5", PEER + PEER_BAR + ST_ASYNC, EXPECT4 + wait(0) + read(0), bars=(1,), cluster=True)
test("cluster-st-async-no-wait", "race", "5 | 0", PEER + PEER_BAR + ST_ASYNC, EXPECT4 + read(0) + wait(0), bars=(1,), cluster=True, why="the store is in flight")
test("cluster-st-async-other-data", "race", "6 | 0", PEER + PEER_BAR + ["st.shared::cluster.b32 [%t2+64], 6;"] + ST_ASYNC, EXPECT4 + wait(0) + read(0, "buf+64"), bars=(1,), cluster=True,
     why="its completion publishes its own bytes alone")
test("cluster-red-async", "clean", "5", PEER + PEER_BAR + ["red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%t2], 5, [%t3];"],
     EXPECT4 + wait(0) + read(0), bars=(1,), cluster=True)
S2S = ["cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%t2], [buf], 16, [%t3];"]
test("cluster-bulk-copy", "clean", "5", PEER + PEER_BAR + write(5) + FENCE + S2S, EXPECT + wait(0) + read(0), bars=(1,), cluster=True)
test("cluster-bulk-copy-no-fence", "race", "5 | 0", PEER + PEER_BAR + write(5) + S2S, EXPECT + wait(0) + read(0), bars=(1,), cluster=True,
     why="a store by the generic proxy, and no fence before the copy reads")
MULTI = ["mov.b16 %h0, 3;", "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [buf], [%mem], 16, [bar], %h0;"]
READY = ["barrier.cluster.arrive.relaxed.aligned;", "barrier.cluster.wait.acquire.aligned;"]
test("cluster-multicast", "clean", "1,1", EXPECT + READY + MULTI + wait(0) + read(0), EXPECT + READY + wait(0) + read(1), bars=(1,), cluster=True)
test("cluster-multicast-no-wait", "race", "1,1 | 1,0", EXPECT + READY + MULTI + wait(0) + read(0), EXPECT + READY + read(1) + wait(0), bars=(1,), cluster=True, why="the other CTA does not wait for what comes to it")

# ---- Tensor maps that the kernel changes ----

REPLACE = ["tensormap.replace.tile.global_address.global.b1024.b64 [%map], %mem;"]
RELEASE = ["fence.proxy.tensormap::generic.release.gpu;"]
ACQUIRE = ["fence.proxy.tensormap::generic.acquire.gpu [%map], 128;"]
LOAD = ["mov.u32 %t4, 0;", "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [buf], [%map, {%t4}], [bar];"]
LOADED = EXPECT + LOAD + wait(0) + read(0)
test("tensormap-fenced", "clean", "1", REPLACE + RELEASE + ACQUIRE + LOADED, bars=(1,), map=True)
test("tensormap-no-fence", "race", "1 | 2", REPLACE + LOADED, bars=(1,), map=True, why="the map was written by the generic proxy")
test("tensormap-release-only", "race", "1 | 2", REPLACE + RELEASE + LOADED, bars=(1,), map=True, why="nothing acquires the map")
test("tensormap-async-fence", "race", "1 | 2", REPLACE + FENCE + LOADED, bars=(1,), map=True, why="fence.proxy.async is not for tensor maps")
test("tensormap-published", "clean", "1", REPLACE + RELEASE + PUBLISH, spin(FLAG) + ACQUIRE + LOADED, bars=(1,), map=True, pair=True)
test("tensormap-published-no-acquire", "race", "1 | 2", REPLACE + RELEASE + PUBLISH, spin(FLAG) + LOADED, bars=(1,), map=True, pair=True, why="nothing acquires the map")
test("tensormap-published-no-release", "race", "1 | 2", REPLACE + ["st.relaxed.gpu.global.b32 [%mem+512], 1;"], spin(FLAG, ".relaxed.gpu") + ACQUIRE + LOADED, bars=(1,), map=True, pair=True, why="nothing releases the map")

# ---- wgmma: all threads of a warpgroup ----

ONES, TWOS = 0x3C003C00, 0x40004000  # two halves each
MMA = ["wgmma.fence.sync.aligned;", "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %d2, %d3, %p2, 1, 1, 0, 0;", "wgmma.commit_group.sync.aligned;"]
MMA_WAIT = ["wgmma.wait_group.sync.aligned 0;"]
SUM = ["cvt.rzi.s32.f32 %v0, %f0;", "setp.eq.u32 %p0, %t0, 0;", "@%p0 st.global.b32 [%out], %v0;"]


def tile(value):
    return [f"mov.u32 %t2, {value};", "st.shared.v4.b32 [%t1], {%t2, %t2, %t2, %t2};", "@%p1 st.shared.v4.b32 [%t1+2048], {%t2, %t2, %t2, %t2};"]


test("wgmma-fenced", "clean", "16", tile(ONES) + FENCE_SHARED + SYNC + MMA + MMA_WAIT + SUM, group=True)
test("wgmma-no-fence", "race", "16 | " + " ".join(map(str, range(16))), tile(ONES) + SYNC + MMA + MMA_WAIT + SUM, group=True, why="stores by the generic proxy, and no fence before the MMA reads")
test("wgmma-fence-behind-barrier", "clean", "16", tile(ONES) + SYNC + FENCE_SHARED + MMA + MMA_WAIT + SUM, group=True,
     why="every thread of the warpgroup fences what the barrier gave it")
test("wgmma-reuse", "clean", "16", tile(ONES) + FENCE_SHARED + SYNC + MMA + MMA_WAIT + SYNC + tile(TWOS) + SUM, group=True)
test("wgmma-reuse-early", "race", "16 | " + " ".join(map(str, range(17, 65))), tile(ONES) + FENCE_SHARED + SYNC + MMA + tile(TWOS) + MMA_WAIT + SUM, group=True,
     why="the MMA reads its operands until wait_group")
