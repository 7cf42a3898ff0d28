// One task loads a tile for two others; each puts it in shared memory with one op of both and multiplies by it. What is
// handed over is that memory: a task gives it back after its own product, and waits for its own barrier alone.
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
!tile = tensor<64x64xf16, #blocked>
!kept = !ttg.memdesc<64x64xf16, #shared, #smem>
!sum = tensor<64x64xf32, #mma>

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @two_takers(%at: tensor<64x64x!tt.ptr<f16>, #blocked>, %one: !kept, %n: i32) {
    %c0 = arith.constant {async_task_id = array<i32: 0, 1, 2>} 0 : i32
    %c1 = arith.constant {async_task_id = array<i32: 0, 1, 2>} 1 : i32
    %zero = arith.constant {async_task_id = array<i32: 1, 2>} dense<0.0> : !sum
    %sums:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %zero, %y = %zero) -> (!sum, !sum) : i32 {
      %tile = tt.load %at {async_task_id = array<i32: 0>} : tensor<64x64x!tt.ptr<f16>, #blocked>
      %kept = ttg.local_alloc %tile {async_task_id = array<i32: 1, 2>} : (!tile) -> !kept
      %first = ttng.warp_group_dot %one, %kept, %x {async_task_id = array<i32: 1>, inputPrecision = 0 : i32} : !kept * !kept -> !sum
      %second = ttng.warp_group_dot %one, %kept, %y {async_task_id = array<i32: 2>, inputPrecision = 0 : i32} : !kept * !kept -> !sum
      scf.yield {async_task_id = array<i32: 1, 2>} %first, %second : !sum, !sum
    } {async_task_id = array<i32: 0, 1, 2>}
    tt.return
  }
}
