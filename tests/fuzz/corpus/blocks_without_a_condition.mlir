// A loop of blocks; the phase goes round with it, and stays 0.
// Wrong: the second turn waits for a phase that is over, or for one that never comes.
#shared1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!barrier = !ttg.memdesc<1xi64, #shared1, #smem, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%n: i32, %skipped: i32) attributes {noinline = false} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %done = ttg.local_alloc : () -> !barrier
    ttng.init_barrier %done, 1 : !barrier loc("kernel.py":9:5)
    cf.br ^head(%c0, %c0 : i32, i32)
  ^head(%i: i32, %phase: i32):
    %more = arith.cmpi slt, %i, %n : i32
    cf.co0d_br %more, ^body, ^end
  ^body:
    ttng.arrive_barrier %done, 1 : !barrier loc("kernel.py":13:13)
    ttng.wait_barrier %done, %phase : !barrier loc("kernel.py":14:13)
    %next = arith.addi %i, %c1 : i32
    cf.br ^head(%next, %phase : i32, i32)
  ^end:
    tt.return
  }
}
