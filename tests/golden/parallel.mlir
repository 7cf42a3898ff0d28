// The loop of ../kernels/loop-phase-constant-hang.ttgir, as one of another kind.
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#shared1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!barrier = !ttg.memdesc<1xi64, #shared1, #smem, mutable>
!tile = !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
!desc = !tt.tensordesc<tensor<128x64xf16, #shared>>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%a_desc: !desc, %out_desc: !desc, %tiles: i32) attributes {noinline = false} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %c128 = arith.constant 128 : i32
    %true = arith.constant true
    %pid = tt.get_program_id x : i32
    %row = arith.muli %pid, %c128 : i32
    %buffer = ttg.local_alloc : () -> !tile
    %loaded = ttg.local_alloc : () -> !barrier
    ttng.init_barrier %loaded, 1 : !barrier loc("kernel.py":13:5)
    %first = arith.index_cast %c0 : i32 to index
    %end = arith.index_cast %tiles : i32 to index
    %step = arith.index_cast %c1 : i32 to index
    scf.parallel (%turn) = (%first) to (%end) step (%step) {
      %i = arith.index_cast %turn : index to i32
      %column = arith.muli %i, %c64 : i32
      %phase = arith.andi %i, %c1 : i32
      ttng.barrier_expect %loaded, 16384, %true : !barrier loc("kernel.py":14:9)
      ttng.async_tma_copy_global_to_local %a_desc[%row, %column] %buffer, %loaded, %true : !desc, !barrier -> !tile loc("kernel.py":15:9)
      ttng.wait_barrier %loaded, %c0 : !barrier loc("kernel.py":16:9)
      ttng.async_tma_copy_local_to_global %out_desc[%row, %column] %buffer : !desc, !tile loc("kernel.py":17:9)
      ttng.async_tma_store_wait {pendings = 0 : i32} loc("kernel.py":18:9)
      scf.reduce
    }
    ttng.inval_barrier %loaded : !barrier loc("kernel.py":19:5)
    tt.return
  }
}
