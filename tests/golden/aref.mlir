// A ring between two groups of warps, before it becomes barriers.
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
!buffers = !ttg.memdesc<3x64x64xf16, #shared, #smem, mutable>
!buffer = !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func @handover(%desc: !tt.tensordesc<tensor<64x64xf16, #shared>>, %i: i32) {
    %ring = ttg.local_alloc : () -> !buffers
    %aref = nvws.aref.create %ring : <[!buffers]>
    nvws.warp_group
    partition0 num_warps(1) {
      %slot, %token = nvws.aref.put.enter %aref[%i, %i] : <[!buffers]> -> !buffer, !ttg.async.token
      nvws.descriptor_load %desc[%i, %i] 8192 %slot : !tt.tensordesc<tensor<64x64xf16, #shared>>, i32, i32, !buffer
      nvws.aref.put.exit %aref[%i], %token [#nvws.async_op<tma_load>] : <[!buffers]>, !ttg.async.token
      nvws.warp_group.return
    }
    partition1 num_warps(4) {
      %slot:2 = nvws.aref.get.enter %aref[%i, %i] {stage = 0 : i32} : <[!buffers]> -> !buffer, !ttg.async.token
      %tile = ttg.local_load %slot#0 token %slot#1 : !buffer -> tensor<64x64xf16>
      nvws.aref.get.exit %aref[%i], %slot#1 [#nvws.async_op<none>] : <[!buffers]>, !ttg.async.token
      nvws.warp_group.return
    }
    tt.return
  }
}
