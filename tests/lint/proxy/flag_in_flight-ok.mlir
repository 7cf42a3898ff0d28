// A flag is raised when the TMA store was waited for.
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#shared1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%base: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %flag: !tt.ptr<i32>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %c128 = arith.constant 128 : i32
    %pitch = arith.constant 128 : i64
    %true = arith.constant true
    %ones = arith.constant dense<1.000000e+00> : tensor<64x64xf16, #blocked>
    %widths = arith.constant dense<64> : tensor<64x1xi32, #blocked>
    %rows = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %columns = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked}>>
    %rows_1 = tt.expand_dims %rows {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<64x1xi32, #blocked>
    %columns_1 = tt.expand_dims %columns {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked}>> -> tensor<1x64xi32, #blocked>
    %starts = arith.muli %rows_1, %widths : tensor<64x1xi32, #blocked>
    %starts_1 = tt.broadcast %starts : tensor<64x1xi32, #blocked> -> tensor<64x64xi32, #blocked>
    %columns_2 = tt.broadcast %columns_1 : tensor<1x64xi32, #blocked> -> tensor<64x64xi32, #blocked>
    %offsets = arith.addi %starts_1, %columns_2 : tensor<64x64xi32, #blocked>
    %bases = tt.splat %base : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>, #blocked>
    %pointers = tt.addptr %bases, %offsets : tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xi32, #blocked>
    %tile = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    %bar = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    ttng.init_barrier %bar, 1 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    %place = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 128 : i32} : !tt.ptr<i8>
    ttng.tensormap_create %place, %base, [%c64, %c64], [%c64, %c128], [%pitch], [%c1, %c1] {elem_type = 6 : i32, fill_mode = 0 : i32, interleave_layout = 0 : i32, swizzle_mode = 3 : i32} : (!tt.ptr<i8>, !tt.ptr<f16>, i32, i32, i32, i32, i64, i32, i32) -> ()
    ttng.tensormap_fenceproxy_acquire %place : !tt.ptr<i8>
    %desc = ttng.reinterpret_tensor_descriptor %place : !tt.ptr<i8> to !tt.tensordesc<tensor<64x64xf16, #shared>>
    ttg.local_store %ones, %tile : tensor<64x64xf16, #blocked> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ttng.fence_async_shared {bCluster = false}
    ttng.async_tma_copy_local_to_global %desc[%c0, %c0] %tile : !tt.tensordesc<tensor<64x64xf16, #shared>>, !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ttng.async_tma_store_wait {pendings = 0 : i32}
    %old = tt.atomic_rmw exch, release, gpu, %flag, %c1, %true : (!tt.ptr<i32>, i32, i1) -> i32
    ttng.async_tma_store_wait {pendings = 0 : i32}
    tt.return
  }
}
