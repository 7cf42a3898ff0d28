// Planned, not yet split: every op says which tasks run it, every buffer which storage it gets (buffer.id) and how many
// slots (buffer.copy); there are no barriers yet. Task 0 loads, tasks 1 and 2 each multiply their own rows (a_0, a_1) with
// the B tile that they share. Nothing is wrong.
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 128, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
!a_tile = !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
!b_tile = !ttg.memdesc<64x128xf16, #shared, #smem, mutable>
!sums = tensor<64x128xf32, #mma>
!a_desc = !tt.tensordesc<tensor<64x64xf16, #shared>>
!b_desc = !tt.tensordesc<tensor<64x128xf16, #shared>>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @tasks(%a_desc: !a_desc, %b_desc: !b_desc, %c_desc: !b_desc, %K: i32) attributes {noinline = false} {
    %a_0 = ttg.local_alloc {buffer.copy = 3 : i32, buffer.id = 0 : i32} : () -> !a_tile loc("a_0"("tasks.py":11:5))
    %a_1 = ttg.local_alloc {buffer.copy = 3 : i32, buffer.id = 1 : i32} : () -> !a_tile loc("a_1"("tasks.py":12:5))
    %b = ttg.local_alloc {buffer.copy = 3 : i32, buffer.id = 2 : i32} : () -> !b_tile loc("b"("tasks.py":13:5))
    %c0 = arith.constant {async_task_id = array<i32: 0, 1, 2>} 0 : i32
    %c64 = arith.constant {async_task_id = array<i32: 0, 1, 2>} 64 : i32
    %none = arith.constant {async_task_id = array<i32: 1, 2>} dense<0.000000e+00> : !sums
    %sums:2 = scf.for %k = %c0 to %K step %c64 iter_args(%sum_0 = %none, %sum_1 = %none) -> (!sums, !sums) : i32 {
      %a_0_value = tt.descriptor_load %a_desc[%c0, %k] {async_task_id = array<i32: 0>, loop.cluster = 1 : i32, loop.stage = 0 : i32} : !a_desc -> tensor<64x64xf16, #blocked> loc("tasks.py":14:7)
      ttg.local_store %a_0_value, %a_0 {async_task_id = array<i32: 0>, loop.cluster = 1 : i32, loop.stage = 0 : i32} : tensor<64x64xf16, #blocked> -> !a_tile loc("tasks.py":15:7)
      %a_1_value = tt.descriptor_load %a_desc[%c64, %k] {async_task_id = array<i32: 0>, loop.cluster = 1 : i32, loop.stage = 0 : i32} : !a_desc -> tensor<64x64xf16, #blocked> loc("tasks.py":16:7)
      ttg.local_store %a_1_value, %a_1 {async_task_id = array<i32: 0>, loop.cluster = 1 : i32, loop.stage = 0 : i32} : tensor<64x64xf16, #blocked> -> !a_tile loc("tasks.py":17:7)
      %b_value = tt.descriptor_load %b_desc[%k, %c0] {async_task_id = array<i32: 0>, loop.cluster = 1 : i32, loop.stage = 0 : i32} : !b_desc -> tensor<64x128xf16, #blocked> loc("tasks.py":18:7)
      ttg.local_store %b_value, %b {async_task_id = array<i32: 0>, loop.cluster = 1 : i32, loop.stage = 0 : i32} : tensor<64x128xf16, #blocked> -> !b_tile loc("tasks.py":19:7)
      %dot_0 = ttng.warp_group_dot %a_0, %b, %sum_0 {async_task_id = array<i32: 1>, inputPrecision = 0 : i32, loop.cluster = 0 : i32, loop.stage = 2 : i32} : !a_tile * !b_tile -> !sums loc("tasks.py":20:7)
      %dot_1 = ttng.warp_group_dot %a_1, %b, %sum_1 {async_task_id = array<i32: 2>, inputPrecision = 0 : i32, loop.cluster = 0 : i32, loop.stage = 2 : i32} : !a_tile * !b_tile -> !sums loc("tasks.py":21:7)
      scf.yield {async_task_id = array<i32: 1, 2>} %dot_0, %dot_1 : !sums, !sums
    } {async_task_id = array<i32: 0, 1, 2>, tt.scheduled_max_stage = 2 : i32, tt.warp_specialize}
    %c_0 = arith.truncf %sums#0 {async_task_id = array<i32: 1>} : !sums to tensor<64x128xf16, #mma>
    %c_0_blocked = ttg.convert_layout %c_0 {async_task_id = array<i32: 1>} : tensor<64x128xf16, #mma> -> tensor<64x128xf16, #blocked>
    tt.descriptor_store %c_desc[%c0, %c0], %c_0_blocked {async_task_id = array<i32: 1>} : !b_desc, tensor<64x128xf16, #blocked> loc("tasks.py":22:5)
    %c_1 = arith.truncf %sums#1 {async_task_id = array<i32: 2>} : !sums to tensor<64x128xf16, #mma>
    %c_1_blocked = ttg.convert_layout %c_1 {async_task_id = array<i32: 2>} : tensor<64x128xf16, #mma> -> tensor<64x128xf16, #blocked>
    tt.descriptor_store %c_desc[%c64, %c0], %c_1_blocked {async_task_id = array<i32: 2>} : !b_desc, tensor<64x128xf16, #blocked> loc("tasks.py":23:5)
    tt.return {async_task_id = array<i32: 0, 1, 2>}
  }
}
