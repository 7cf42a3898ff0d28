// A box of 128 rows.
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#plain = #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 16}>
#bar = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!bar = !ttg.memdesc<1xi64, #bar, #smem, mutable>
!tile = !ttg.memdesc<128x128xf16, #rows, #smem, mutable>
!desc = !tt.tensordesc<128x128xf16, #rows>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%in: !tt.ptr<f16> {tt.divisibility = 128 : i32}, %cols: i32, %rows: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %true = arith.constant true
    %map = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 128 : i32} : !tt.ptr<i8>
    %width = arith.constant 64 : i32
    %height = arith.constant 128 : i32
    %stride = arith.constant 2048 : i64
    ttng.tensormap_create %map, %in, [%width, %height], [%cols, %rows], [%stride], [%c1, %c1] {elem_type = 6 : i32, interleave_layout = 0 : i32, swizzle_mode = 3 : i32, fill_mode = 0 : i32} : (!tt.ptr<i8>, !tt.ptr<f16>, i32, i32, i32, i32, i64, i32, i32) -> ()
    ttng.tensormap_fenceproxy_acquire %map : !tt.ptr<i8>
    %desc = ttng.reinterpret_tensor_descriptor %map : !tt.ptr<i8> to !desc
    %bar = ttg.local_alloc {allocation.offset = 65536 : i32} : () -> !bar
    ttng.init_barrier %bar, 1 : !bar
    %tile = ttg.local_alloc : () -> !tile
    ttng.barrier_expect %bar, 32768, %true : !bar
    ttng.async_tma_copy_global_to_local %desc[%c0, %c0] %tile, %bar, %true : !desc, !bar -> !tile
    ttng.wait_barrier %bar, %c0 : !bar
    tt.return
  }
}
