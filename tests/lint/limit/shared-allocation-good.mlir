// A ring of six tiles is 96 KiB.
// Nothing is wrong on sm_86.
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
!six = !ttg.memdesc<6x128x64xf16, #shared, #smem, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel() attributes {noinline = false} {
    %ring = ttg.local_alloc : () -> !six
    tt.return
  }
}
