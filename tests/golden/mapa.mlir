// Two CTAs arrive on mbarriers by the addresses that Triton's backend computes, halfway to LLVM. @peer: each on that of the
// other. @leader: both on that of the first.
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!bar = !ttg.memdesc<1xi64, #shared, #smem, mutable>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @peer() attributes {noinline = false} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %bar = ttg.local_alloc : () -> !bar
    ttng.init_barrier %bar, 1 : !bar
    %rank = nvvm.read.ptx.sreg.cluster.ctarank : i32
    %other = arith.xori %rank, %c1 : i32
    %own = builtin.unrealized_conversion_cast %bar : !bar to !llvm.ptr<3>
    %remote = nvvm.mapa %own, %other : !llvm.ptr<3> -> !llvm.ptr<7>
    nvvm.mbarrier.arrive.shared %remote : !llvm.ptr<7> -> i64
    ttng.wait_barrier %bar, %c0 : !bar
    tt.return
  }
  tt.func public @leader() attributes {noinline = false} {
    %c0 = arith.constant 0 : i32
    %bar = ttg.local_alloc : () -> !bar
    ttng.init_barrier %bar, 2 : !bar
    %own = builtin.unrealized_conversion_cast %bar : !bar to !llvm.ptr<3>
    %first = nvvm.mapa %own, %c0 : !llvm.ptr<3> -> !llvm.ptr<7>
    nvvm.mbarrier.arrive.shared %first : !llvm.ptr<7> -> i64
    ttng.wait_barrier %bar, %c0 : !bar
    tt.return
  }
}
