// Before arefs are lowered to barriers: A and B tiles are put into one aref of two stages by a load partition and got by
// two others, which read them in their own time. Stage and phase are carried through the loops. Nothing is wrong.
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
!a_tile = !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
!a_tiles = !ttg.memdesc<2x128x64xf16, #shared, #smem, mutable>
!b_tile = !ttg.memdesc<64x128xf16, #shared, #smem, mutable>
!b_tiles = !ttg.memdesc<2x64x128xf16, #shared, #smem, mutable>
!ab = !nvws.aref<[!a_tiles, !b_tiles]>
!a_values = tensor<128x64xf16, #blocked>
!b_values = tensor<64x128xf16, #blocked>
!a_desc = !tt.tensordesc<tensor<128x64xf16, #shared>>
!b_desc = !tt.tensordesc<tensor<64x128xf16, #shared>>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @aref(%a_desc: !a_desc, %b_desc: !b_desc, %tiles: i32) attributes {noinline = false} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %a = ttg.local_alloc : () -> !a_tiles loc("a"("aref.py":11:5))
    %b = ttg.local_alloc : () -> !b_tiles loc("b"("aref.py":12:5))
    %aref = nvws.aref.create %a, %b : <[!a_tiles, !b_tiles]> loc("aref.py":13:5)
    ttg.warp_specialize(%a_desc, %b_desc, %aref, %tiles) attributes {requestedRegisters = array<i32: 24, 152>}
    default {
      %end:2 = scf.for %i = %c0 to %tiles step %c1 iter_args(%before = %c1, %phase_before = %c1) -> (i32, i32) : i32 {
        %after = arith.addi %before, %c1 : i32
        %wraps = arith.cmpi eq, %after, %c2 : i32
        %stage = arith.select %wraps, %c0, %after : i32
        %phase_other = arith.xori %phase_before, %c1 : i32
        %phase = arith.select %wraps, %phase_other, %phase_before : i32
        %full:3 = nvws.aref.get.enter %aref[%stage, %phase] : <[!a_tiles, !b_tiles]> -> !a_tile, !b_tile, !ttg.async.token loc("aref.py":14:9)
        %a_value = ttg.local_load %full#0 : !a_tile -> !a_values loc("aref.py":15:9)
        %b_value = ttg.local_load %full#1 : !b_tile -> !b_values loc("aref.py":16:9)
        nvws.aref.get.exit %aref[%stage], %full#2 [#nvws.async_op<none>] : <[!a_tiles, !b_tiles]>, !ttg.async.token loc("aref.py":17:9)
        scf.yield %stage, %phase : i32, i32
      }
      ttg.warp_yield
    }
    partition0(%a_desc_p0: !a_desc, %b_desc_p0: !b_desc, %aref_p0: !ab, %tiles_p0: i32) num_warps(1) {
      %c0_p0 = arith.constant 0 : i32
      %c1_p0 = arith.constant 1 : i32
      %c2_p0 = arith.constant 2 : i32
      %c64 = arith.constant 64 : i32
      %end:2 = scf.for %i = %c0_p0 to %tiles_p0 step %c1_p0 iter_args(%before = %c1_p0, %phase_before = %c0_p0) -> (i32, i32) : i32 {
        %after = arith.addi %before, %c1_p0 : i32
        %wraps = arith.cmpi eq, %after, %c2_p0 : i32
        %stage = arith.select %wraps, %c0_p0, %after : i32
        %phase_other = arith.xori %phase_before, %c1_p0 : i32
        %phase = arith.select %wraps, %phase_other, %phase_before : i32
        %free:3 = nvws.aref.put.enter %aref_p0[%stage, %phase] : <[!a_tiles, !b_tiles]> -> !a_tile, !b_tile, !ttg.async.token loc("aref.py":18:9)
        %k = arith.muli %i, %c64 : i32
        nvws.descriptor_load %a_desc_p0[%c0_p0, %k] 16384 %free#0 : !a_desc, i32, i32, !a_tile loc("aref.py":19:9)
        nvws.descriptor_load %b_desc_p0[%k, %c0_p0] 16384 %free#1 : !b_desc, i32, i32, !b_tile loc("aref.py":20:9)
        nvws.aref.put.exit %aref_p0[%stage], %free#2 [#nvws.async_op<tma_load>] : <[!a_tiles, !b_tiles]>, !ttg.async.token loc("aref.py":21:9)
        scf.yield %stage, %phase : i32, i32
      }
      ttg.warp_return
    }
    partition1(%a_desc_p1: !a_desc, %b_desc_p1: !b_desc, %aref_p1: !ab, %tiles_p1: i32) num_warps(4) {
      %c0_p1 = arith.constant 0 : i32
      %c1_p1 = arith.constant 1 : i32
      %c2_p1 = arith.constant 2 : i32
      %end:2 = scf.for %i = %c0_p1 to %tiles_p1 step %c1_p1 iter_args(%before = %c1_p1, %phase_before = %c1_p1) -> (i32, i32) : i32 {
        %after = arith.addi %before, %c1_p1 : i32
        %wraps = arith.cmpi eq, %after, %c2_p1 : i32
        %stage = arith.select %wraps, %c0_p1, %after : i32
        %phase_other = arith.xori %phase_before, %c1_p1 : i32
        %phase = arith.select %wraps, %phase_other, %phase_before : i32
        %full:3 = nvws.aref.get.enter %aref_p1[%stage, %phase] : <[!a_tiles, !b_tiles]> -> !a_tile, !b_tile, !ttg.async.token loc("aref.py":22:9)
        %a_value = ttg.local_load %full#0 : !a_tile -> !a_values loc("aref.py":23:9)
        %b_value = ttg.local_load %full#1 : !b_tile -> !b_values loc("aref.py":24:9)
        scf.yield %stage, %phase : i32, i32
      }
      ttg.warp_return
    } : (!a_desc, !b_desc, !ab, i32) -> ()
    tt.return
  }
}
