// Every CTA stores a tile of rows, and TMA loads the tile of its neighbor.
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#shared1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
#line = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%base: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %result: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %c256 = arith.constant 256 : i32
    %pitch = arith.constant 128 : i64
    %true = arith.constant true
    %ones = arith.constant dense<1.000000e+00> : tensor<64xf16, #line>
    %pid = tt.get_program_id x : i32
    %columns = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #line>
    %start = arith.muli %pid, %c64 : i32
    %starts = tt.splat %start : i32 -> tensor<64xi32, #line>
    %offsets = arith.addi %starts, %columns : tensor<64xi32, #line>
    %bases = tt.splat %base : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>, #line>
    %pointers = tt.addptr %bases, %offsets : tensor<64x!tt.ptr<f16>, #line>, tensor<64xi32, #line>
    %tile = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %bar = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    ttng.init_barrier %bar, 1 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    %place = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 128 : i32} : !tt.ptr<i8>
    ttng.tensormap_create %place, %base, [%c64, %c64], [%c64, %c256], [%pitch], [%c1, %c1] {elem_type = 6 : i32, fill_mode = 0 : i32, interleave_layout = 0 : i32, swizzle_mode = 3 : i32} : (!tt.ptr<i8>, !tt.ptr<f16>, i32, i32, i32, i32, i64, i32, i32) -> ()
    ttng.tensormap_fenceproxy_acquire %place : !tt.ptr<i8>
    %desc = ttng.reinterpret_tensor_descriptor %place : !tt.ptr<i8> to !tt.tensordesc<tensor<64x64xf16, #shared>>
    tt.store %pointers, %ones : tensor<64x!tt.ptr<f16>, #line>
    %row = arith.addi %pid, %c1 : i32
    ttng.barrier_expect %bar, 8192, %true : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    ttng.async_tma_copy_global_to_local %desc[%row, %c0] %tile, %bar, %true : !tt.tensordesc<tensor<64x64xf16, #shared>>, !ttg.memdesc<1xi64, #shared1, #smem, mutable> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ttng.wait_barrier %bar, %c0, %true : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    tt.return
  }
}
