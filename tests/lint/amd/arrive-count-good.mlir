// Each of the 128 threads arrives once.
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!cell = !ttg.memdesc<1xi64, #bar, #smem, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1250", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel() {
    %c0 = arith.constant 0 : i32
    %bar = ttg.local_alloc : () -> !cell
    amdg.init_barrier %bar, 128 : !cell
    %p = amdg.arrive_barrier %bar, 1 : !cell -> i32
    amdg.wait_barrier %bar, %c0 : !cell
    tt.return
  }
}
