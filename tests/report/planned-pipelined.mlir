// Planned, not yet split: a persistent attention-like kernel whose memory planner has put alpha (column 64), m (65) and
// l (66) into the spare columns of the product QK (buffer.id 8), P over its first 64, and K and V into one ring of three
// slots (buffer.id 1). Tasks: 0 correction, 1 products, 2 loads, 3 softmax. m and l are read once a tile, the others once
// a block.
#full = #ttg.blocked<{sizePerThread = [1, 128], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
#half = #ttg.blocked<{sizePerThread = [1, 64], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
#column = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
#row = #ttg.slice<{dim = 1, parent = #full}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#shared2 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#tmem = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#tmem1 = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
#tmem2 = #ttng.tensor_memory_encoding<blockM = 128, blockN = 1, colStride = 1>
!token = !ttg.async.token
!tile = !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
!turned = !ttg.memdesc<64x128xf16, #shared2, #smem, mutable>
!scores = !ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable>
!weights = !ttg.memdesc<128x128xf16, #tmem, #ttng.tensor_memory, mutable>
!factor = !ttg.memdesc<128x1xf32, #tmem2, #ttng.tensor_memory, mutable>
!sums = !ttg.memdesc<128x64xf32, #tmem1, #ttng.tensor_memory, mutable>
!factors = tensor<128x1xf32, #column>
!desc = !tt.tensordesc<tensor<128x64xf16, #shared>>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @planned(%q_desc: !desc, %k_desc: !desc, %v_desc: !desc, %o_desc: !desc, %tiles: i32, %context: i32) attributes {noinline = false} {
    %q = ttg.local_alloc {buffer.copy = 1 : i32, buffer.id = 0 : i32} : () -> !tile loc("q"("planned.py":11:5))
    %k = ttg.local_alloc {buffer.copy = 3 : i32, buffer.id = 1 : i32} : () -> !tile loc("k"("planned.py":12:5))
    %v = ttg.local_alloc {buffer.copy = 3 : i32, buffer.id = 1 : i32} : () -> !tile loc("v"("planned.py":13:5))
    %acc, %acc_token = ttng.tmem_alloc {buffer.copy = 1 : i32, buffer.id = 7 : i32} : () -> (!sums, !token) loc("acc"("planned.py":14:5))
    %qk, %qk_token = ttng.tmem_alloc {buffer.copy = 1 : i32, buffer.id = 8 : i32} : () -> (!scores, !token) loc("qk"("planned.py":15:5))
    %p, %p_token = ttng.tmem_alloc {buffer.copy = 1 : i32, buffer.id = 8 : i32, buffer.offset = 0 : i32} : () -> (!weights, !token) loc("p"("planned.py":16:5))
    %alpha, %alpha_token = ttng.tmem_alloc {buffer.copy = 1 : i32, buffer.id = 8 : i32, buffer.offset = 64 : i32} : () -> (!factor, !token) loc("alpha"("planned.py":17:5))
    %m, %m_token = ttng.tmem_alloc {buffer.copy = 1 : i32, buffer.id = 8 : i32, buffer.offset = 65 : i32} : () -> (!factor, !token) loc("m"("planned.py":18:5))
    %l, %l_token = ttng.tmem_alloc {buffer.copy = 1 : i32, buffer.id = 8 : i32, buffer.offset = 66 : i32} : () -> (!factor, !token) loc("l"("planned.py":19:5))
    %c0 = arith.constant {async_task_id = array<i32: 0, 1, 2, 3>} 0 : i32
    %c1 = arith.constant {async_task_id = array<i32: 0, 1, 2, 3>} 1 : i32
    %c128 = arith.constant {async_task_id = array<i32: 0, 1, 2, 3>} 128 : i32
    %true = arith.constant {async_task_id = array<i32: 0, 1, 2, 3>} true
    %false = arith.constant {async_task_id = array<i32: 1>} false
    %zeros = arith.constant {async_task_id = array<i32: 0>} dense<0.000000e+00> : tensor<128x64xf32, #half>
    %lowest = arith.constant {async_task_id = array<i32: 3>} dense<0xFF800000> : tensor<128xf32, #row>
    %none = arith.constant {async_task_id = array<i32: 3>} dense<0.000000e+00> : tensor<128xf32, #row>
    scf.for %tile = %c0 to %tiles step %c1 : i32 {
      %row = arith.muli %tile, %c128 {async_task_id = array<i32: 0, 2>} : i32
      %q_value = tt.descriptor_load %q_desc[%row, %c0] {async_task_id = array<i32: 2>} : !desc -> tensor<128x64xf16, #half> loc("planned.py":20:7)
      ttg.local_store %q_value, %q {async_task_id = array<i32: 2>} : tensor<128x64xf16, #half> -> !tile loc("planned.py":21:7)
      %acc_zero = ttng.tmem_store %zeros, %acc[%acc_token], %true {async_task_id = array<i32: 0>} : tensor<128x64xf32, #half> -> !sums loc("planned.py":22:7)
      %last:3 = scf.for %i = %c0 to %context step %c128 iter_args(%m_i = %lowest, %l_i = %none, %acc_before = %acc_zero) -> (tensor<128xf32, #row>, tensor<128xf32, #row>, !token) : i32 {
        %k_value = tt.descriptor_load %k_desc[%i, %c0] {async_task_id = array<i32: 2>} : !desc -> tensor<128x64xf16, #half> loc("planned.py":23:9)
        ttg.local_store %k_value, %k {async_task_id = array<i32: 2>} : tensor<128x64xf16, #half> -> !tile loc("planned.py":24:9)
        %k_turned = ttg.memdesc_trans %k {async_task_id = array<i32: 1>, order = array<i32: 1, 0>} : !tile -> !turned
        %qk_made = ttng.tc_gen5_mma %q, %k_turned, %qk[%qk_token], %false, %true {async_task_id = array<i32: 1>, loop.cluster = 0 : i32, loop.stage = 0 : i32} : !tile, !turned, !scores loc("planned.py":25:9)
        %s, %s_token = ttng.tmem_load %qk[%qk_made] {async_task_id = array<i32: 3>} : !scores -> tensor<128x128xf32, #full> loc("s"("planned.py":26:9))
        %most = "tt.reduce"(%s) <{axis = 1 : i32}> ({
        ^bb0(%a: f32, %b: f32):
          %ab = arith.maxnumf %a, %b {async_task_id = array<i32: 3>} : f32
          tt.reduce.return %ab {async_task_id = array<i32: 3>} : f32
        }) {async_task_id = array<i32: 3>} : (tensor<128x128xf32, #full>) -> tensor<128xf32, #row>
        %m_ij = arith.maxnumf %m_i, %most {async_task_id = array<i32: 3>} : tensor<128xf32, #row>
        %change = arith.subf %m_i, %m_ij {async_task_id = array<i32: 3>} : tensor<128xf32, #row>
        %scale = math.exp2 %change {async_task_id = array<i32: 3>} : tensor<128xf32, #row>
        %scale_full = tt.expand_dims %scale {async_task_id = array<i32: 3>, axis = 1 : i32} : tensor<128xf32, #row> -> tensor<128x1xf32, #full>
        %scale_column = ttg.convert_layout %scale_full {async_task_id = array<i32: 3>} : tensor<128x1xf32, #full> -> !factors
        %alpha_stored = ttng.tmem_store %scale_column, %alpha[%alpha_token], %true {async_task_id = array<i32: 3>} : !factors -> !factor loc("planned.py":27:9)
        %factor, %factor_token = ttng.tmem_load %alpha[%alpha_stored] {async_task_id = array<i32: 0>} : !factor -> !factors loc("factor"("planned.py":28:9))
        %old, %old_token = ttng.tmem_load %acc[%acc_before] {async_task_id = array<i32: 0>} : !sums -> tensor<128x64xf32, #half> loc("old"("planned.py":29:9))
        %factor_half = ttg.convert_layout %factor {async_task_id = array<i32: 0>} : !factors -> tensor<128x1xf32, #half>
        %factor_wide = tt.broadcast %factor_half {async_task_id = array<i32: 0>} : tensor<128x1xf32, #half> -> tensor<128x64xf32, #half>
        %new = arith.mulf %old, %factor_wide {async_task_id = array<i32: 0>} : tensor<128x64xf32, #half>
        %acc_scaled = ttng.tmem_store %new, %acc[%old_token], %true {async_task_id = array<i32: 0>} : tensor<128x64xf32, #half> -> !sums loc("planned.py":30:9)
        %weight = math.exp2 %s {async_task_id = array<i32: 3>} : tensor<128x128xf32, #full>
        %weight_16 = arith.truncf %weight {async_task_id = array<i32: 3>} : tensor<128x128xf32, #full> to tensor<128x128xf16, #full>
        %p_stored = ttng.tmem_store %weight_16, %p[%p_token], %true {async_task_id = array<i32: 3>} : tensor<128x128xf16, #full> -> !weights loc("planned.py":31:9)
        %v_value = tt.descriptor_load %v_desc[%i, %c0] {async_task_id = array<i32: 2>} : !desc -> tensor<128x64xf16, #half> loc("planned.py":32:9)
        ttg.local_store %v_value, %v {async_task_id = array<i32: 2>} : tensor<128x64xf16, #half> -> !tile loc("planned.py":33:9)
        %acc_made = ttng.tc_gen5_mma %p, %v, %acc[%acc_scaled], %true, %true {async_task_id = array<i32: 1>, loop.cluster = 0 : i32, loop.stage = 0 : i32} : !weights, !tile, !sums loc("planned.py":34:9)
        %l_ij = arith.mulf %l_i, %scale {async_task_id = array<i32: 3>} : tensor<128xf32, #row>
        scf.yield {async_task_id = array<i32: 0, 1, 3>} %m_ij, %l_ij, %acc_made : tensor<128xf32, #row>, tensor<128xf32, #row>, !token
      } {async_task_id = array<i32: 0, 1, 2, 3>}
      %m_rows = tt.expand_dims %last#0 {async_task_id = array<i32: 3>, axis = 1 : i32} : tensor<128xf32, #row> -> tensor<128x1xf32, #full>
      %m_column = ttg.convert_layout %m_rows {async_task_id = array<i32: 3>} : tensor<128x1xf32, #full> -> !factors
      %m_stored = ttng.tmem_store %m_column, %m[%m_token], %true {async_task_id = array<i32: 3>} : !factors -> !factor loc("planned.py":35:7)
      %l_rows = tt.expand_dims %last#1 {async_task_id = array<i32: 3>, axis = 1 : i32} : tensor<128xf32, #row> -> tensor<128x1xf32, #full>
      %l_column = ttg.convert_layout %l_rows {async_task_id = array<i32: 3>} : tensor<128x1xf32, #full> -> !factors
      %l_stored = ttng.tmem_store %l_column, %l[%l_token], %true {async_task_id = array<i32: 3>} : !factors -> !factor loc("planned.py":36:7)
      %m_final, %m_final_token = ttng.tmem_load %m[%m_stored] {async_task_id = array<i32: 0>} : !factor -> !factors loc("m_final"("planned.py":37:7))
      %l_final, %l_final_token = ttng.tmem_load %l[%l_stored] {async_task_id = array<i32: 0>} : !factor -> !factors loc("l_final"("planned.py":38:7))
      %sum, %sum_token = ttng.tmem_load %acc[%last#2] {async_task_id = array<i32: 0>} : !sums -> tensor<128x64xf32, #half> loc("sum"("planned.py":39:7))
      %l_half = ttg.convert_layout %l_final {async_task_id = array<i32: 0>} : !factors -> tensor<128x1xf32, #half>
      %l_wide = tt.broadcast %l_half {async_task_id = array<i32: 0>} : tensor<128x1xf32, #half> -> tensor<128x64xf32, #half>
      %o = arith.divf %sum, %l_wide {async_task_id = array<i32: 0>} : tensor<128x64xf32, #half>
      %o_16 = arith.truncf %o {async_task_id = array<i32: 0>} : tensor<128x64xf32, #half> to tensor<128x64xf16, #half>
      tt.descriptor_store %o_desc[%row, %c0], %o_16 {async_task_id = array<i32: 0>} : !desc, tensor<128x64xf16, #half> loc("planned.py":40:7)
    } {async_task_id = array<i32: 0, 1, 2, 3>, tt.warp_specialize}
    tt.return
  }
}
