// Five dimensions.
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [4, 3, 2, 1, 0]}>
#smem = #ttg.shared_memory
!tile = !ttg.memdesc<2x2x2x2x16xf16, #shared, #smem, mutable>
!desc = !tt.tensordesc<2x2x2x2x16xf16, #shared>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1250", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%desc: !desc) {
    %a = ttg.local_alloc : () -> !tile
    %t = amdg.async_tdm_copy_global_to_local %desc into %a : !desc -> !tile
    tt.return
  }
}
