// Tokens and arefs with more slots than can be counted in bytes, and a token that is used in a slot it does not have.
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
!tiles = !ttg.memdesc<9223372036854775807x64x64xf16, #shared, #smem, mutable>
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func @token() {
    %c = arith.constant -1 : i32
    %true = arith.constant true
    %0 = nvws.create_token {loadType = 3 : i32, numBuffers = 2147483647 : i32} : tensor<2x!nvws.token>
    nvws.producer_acquire %0, %c, %true : tensor<2x!nvws.token>, i32, i1
    tt.return
  }
  tt.func @negative_token() {
    %c = arith.constant 2147483647 : i32
    %true = arith.constant true
    %0 = nvws.create_token {loadType = 3 : i32, numBuffers = -9223372036854775808 : i64} : tensor<2x!nvws.token>
    nvws.producer_acquire %0, %c, %true : tensor<2x!nvws.token>, i32, i1
    tt.return
  }
  tt.func @aref() {
    %0 = ttg.local_alloc : () -> !tiles
    %1 = nvws.aref.create %0 : <[!tiles]>
    %2, %3 = nvws.aref.put.enter %1 : <[!tiles]> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>, !ttg.async.token
    nvws.aref.put.exit %1, %3 [#nvws.async_op<none>] : <[!tiles]>, !ttg.async.token
    tt.return
  }
}
