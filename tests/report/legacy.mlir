// The task ids as older compilers wrote them, dense<..> : vector<..>, and before buffers are planned. Task 0 loads and
// stores its tiles to shared memory, tasks 1 and 2 read the same buffer: one takes the sum, the other the largest value.
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#row = #ttg.slice<{dim = 1, parent = #blocked}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
!tile = !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
!values = tensor<128x64xf16, #blocked>
!rows = tensor<128xf16, #row>
!pointers = tensor<128x!tt.ptr<f16>, #row>
!desc = !tt.tensordesc<tensor<128x64xf16, #shared>>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @legacy(%x_desc: !desc, %sum_ptr: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %most_ptr: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %N: i32) attributes {noinline = false} {
    %x = ttg.local_alloc : () -> !tile loc("x"("legacy.py":11:5))
    %c0 = arith.constant {async_task_id = dense<[0, 1, 2]> : vector<3xi32>} 0 : i32
    %c64 = arith.constant {async_task_id = dense<[0, 1, 2]> : vector<3xi32>} 64 : i32
    %none = arith.constant {async_task_id = dense<[1, 2]> : vector<2xi32>} dense<0.000000e+00> : !rows
    %ends:2 = scf.for %i = %c0 to %N step %c64 iter_args(%sum = %none, %most = %none) -> (!rows, !rows) : i32 {
      %x_value = tt.descriptor_load %x_desc[%c0, %i] {async_task_id = dense<0> : vector<1xi32>} : !desc -> !values loc("legacy.py":12:7)
      ttg.local_store %x_value, %x {async_task_id = dense<0> : vector<1xi32>} : !values -> !tile loc("legacy.py":13:7)
      %left = ttg.local_load %x {async_task_id = dense<1> : vector<1xi32>} : !tile -> !values loc("legacy.py":14:7)
      %left_sum = "tt.reduce"(%left) <{axis = 1 : i32}> ({
      ^bb0(%a: f16, %b: f16):
        %ab = arith.addf %a, %b {async_task_id = dense<1> : vector<1xi32>} : f16
        tt.reduce.return %ab {async_task_id = dense<1> : vector<1xi32>} : f16
      }) {async_task_id = dense<1> : vector<1xi32>} : (!values) -> !rows
      %sum_next = arith.addf %sum, %left_sum {async_task_id = dense<1> : vector<1xi32>} : !rows
      %right = ttg.local_load %x {async_task_id = dense<2> : vector<1xi32>} : !tile -> !values loc("legacy.py":15:7)
      %right_most = "tt.reduce"(%right) <{axis = 1 : i32}> ({
      ^bb0(%a: f16, %b: f16):
        %ab = arith.maxnumf %a, %b {async_task_id = dense<2> : vector<1xi32>} : f16
        tt.reduce.return %ab {async_task_id = dense<2> : vector<1xi32>} : f16
      }) {async_task_id = dense<2> : vector<1xi32>} : (!values) -> !rows
      %most_next = arith.maxnumf %most, %right_most {async_task_id = dense<2> : vector<1xi32>} : !rows
      scf.yield {async_task_id = dense<[1, 2]> : vector<2xi32>} %sum_next, %most_next : !rows, !rows
    } {async_task_id = dense<[0, 1, 2]> : vector<3xi32>}
    %at = tt.make_range {async_task_id = dense<[1, 2]> : vector<2xi32>, end = 128 : i32, start = 0 : i32} : tensor<128xi32, #row>
    %sum_base = tt.splat %sum_ptr {async_task_id = dense<1> : vector<1xi32>} : !tt.ptr<f16> -> !pointers
    %sum_at = tt.addptr %sum_base, %at {async_task_id = dense<1> : vector<1xi32>} : !pointers, tensor<128xi32, #row>
    tt.store %sum_at, %ends#0 {async_task_id = dense<1> : vector<1xi32>} : !pointers loc("legacy.py":16:5)
    %most_base = tt.splat %most_ptr {async_task_id = dense<2> : vector<1xi32>} : !tt.ptr<f16> -> !pointers
    %most_at = tt.addptr %most_base, %at {async_task_id = dense<2> : vector<1xi32>} : !pointers, tensor<128xi32, #row>
    tt.store %most_at, %ends#1 {async_task_id = dense<2> : vector<1xi32>} : !pointers loc("legacy.py":17:5)
    tt.return
  }
}
