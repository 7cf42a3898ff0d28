// Before arefs are lowered to barriers: X tiles go through an aref of three stages from a load partition to the default
// one. Stage and phase are computed from the tile's number. Nothing is wrong.
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
!tile = !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
!tiles = !ttg.memdesc<3x128x64xf16, #shared, #smem, mutable>
!ring = !nvws.aref<[!tiles]>
!values = tensor<128x64xf16, #blocked>
!desc = !tt.tensordesc<tensor<128x64xf16, #shared>>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @aref_three(%x_desc: !desc, %tiles: i32) attributes {noinline = false} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c3 = arith.constant 3 : i32
    %x = ttg.local_alloc : () -> !tiles loc("x"("aref_three.py":11:5))
    %ring = nvws.aref.create %x : <[!tiles]> loc("aref_three.py":12:5)
    ttg.warp_specialize(%x_desc, %ring, %tiles) attributes {requestedRegisters = array<i32: 24>}
    default {
      scf.for %i = %c0 to %tiles step %c1 : i32 {
        %stage = arith.remsi %i, %c3 : i32
        %turn = arith.divsi %i, %c3 : i32
        %phase = arith.andi %turn, %c1 : i32
        %full:2 = nvws.aref.get.enter %ring[%stage, %phase] : <[!tiles]> -> !tile, !ttg.async.token loc("aref_three.py":13:9)
        %value = ttg.local_load %full#0 : !tile -> !values loc("aref_three.py":14:9)
      }
      ttg.warp_yield
    }
    partition0(%x_desc_p0: !desc, %ring_p0: !ring, %tiles_p0: i32) num_warps(1) {
      %c0_p0 = arith.constant 0 : i32
      %c1_p0 = arith.constant 1 : i32
      %c3_p0 = arith.constant 3 : i32
      %c64 = arith.constant 64 : i32
      scf.for %i = %c0_p0 to %tiles_p0 step %c1_p0 : i32 {
        %stage = arith.remsi %i, %c3_p0 : i32
        %turn = arith.divsi %i, %c3_p0 : i32
        %bit = arith.andi %turn, %c1_p0 : i32
        %phase = arith.xori %bit, %c1_p0 : i32
        %free:2 = nvws.aref.put.enter %ring_p0[%stage, %phase] : <[!tiles]> -> !tile, !ttg.async.token loc("aref_three.py":16:9)
        %k = arith.muli %i, %c64 : i32
        nvws.descriptor_load %x_desc_p0[%c0_p0, %k] 16384 %free#0 : !desc, i32, i32, !tile loc("aref_three.py":17:9)
        nvws.aref.put.exit %ring_p0[%stage], %free#1 [#nvws.async_op<tma_load>] : <[!tiles]>, !ttg.async.token loc("aref_three.py":18:9)
      }
      ttg.warp_return
    } : (!desc, !ring, i32) -> ()
    tt.return
  }
}
