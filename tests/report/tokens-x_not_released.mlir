// Before tokens are lowered to barriers: partition0 loads tiles into a ring of three, partition1 doubles them into a
// ring of two, the default partition stores those. Each ring has a token. Nothing is wrong.
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#row = #ttg.slice<{dim = 1, parent = #blocked}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
!tile = !ttg.memdesc<128x64xf16, #shared, #smem, mutable>
!x_tiles = !ttg.memdesc<3x128x64xf16, #shared, #smem, mutable>
!y_tiles = !ttg.memdesc<2x128x64xf16, #shared, #smem, mutable>
!x_token = tensor<3x!nvws.token>
!y_token = tensor<2x!nvws.token>
!values = tensor<128x64xf16, #blocked>
!desc = !tt.tensordesc<tensor<128x64xf16, #shared>>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @tokens(%x_desc: !desc, %y_desc: !desc, %tiles: i32) attributes {noinline = false} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c128 = arith.constant 128 : i32
    %x = ttg.local_alloc {buffer.copy = 3 : i32, buffer.id = 0 : i32} : () -> !x_tiles loc("x"("tokens.py":11:5))
    %y = ttg.local_alloc {buffer.copy = 2 : i32, buffer.id = 1 : i32} : () -> !y_tiles loc("y"("tokens.py":12:5))
    %x_token = nvws.create_token {loadType = 3 : i32, numBuffers = 3 : i32} : !x_token loc("tokens.py":13:5)
    %y_token = nvws.create_token {loadType = 3 : i32, numBuffers = 2 : i32} : !y_token loc("tokens.py":14:5)
    ttg.warp_specialize(%x_desc, %x, %y, %x_token, %y_token, %tiles) attributes {requestedRegisters = array<i32: 120, 152>}
    default {
      scf.for %i = %c0 to %tiles step %c1 : i32 {
        %row = arith.muli %i, %c128 : i32
        %slot = arith.remsi %i, %c2 : i32
        %turn = arith.divsi %i, %c2 : i32
        %phase = arith.trunci %turn : i32 to i1
        nvws.consumer_wait %y_token, %slot, %phase : !y_token, i32, i1 loc("tokens.py":15:9)
        %y_slot = ttg.memdesc_index %y[%slot] : !y_tiles -> !tile
        %value = ttg.local_load %y_slot : !tile -> !values loc("tokens.py":16:9)
        nvws.consumer_release %y_token, %slot : !y_token, i32 loc("tokens.py":17:9)
        tt.descriptor_store %y_desc[%row, %c0], %value : !desc, !values loc("tokens.py":18:9)
      }
      ttg.warp_yield
    }
    partition0(%x_desc_p0: !desc, %x_p0: !x_tiles, %y_p0: !y_tiles, %x_token_p0: !x_token, %y_token_p0: !y_token, %tiles_p0: i32) num_warps(4) {
      %c0_p0 = arith.constant 0 : i32
      %c1_p0 = arith.constant 1 : i32
      %c3 = arith.constant 3 : i32
      %c128_p0 = arith.constant 128 : i32
      scf.for %i = %c0_p0 to %tiles_p0 step %c1_p0 : i32 {
        %row = arith.muli %i, %c128_p0 : i32
        %slot = arith.remsi %i, %c3 : i32
        %turn = arith.divsi %i, %c3 : i32
        %phase = arith.trunci %turn : i32 to i1
        %value = tt.descriptor_load %x_desc_p0[%row, %c0_p0] : !desc -> !values loc("tokens.py":19:9)
        nvws.producer_acquire %x_token_p0, %slot, %phase : !x_token, i32, i1 loc("tokens.py":20:9)
        %x_slot = ttg.memdesc_index %x_p0[%slot] : !x_tiles -> !tile
        ttg.local_store %value, %x_slot : !values -> !tile loc("tokens.py":21:9)
        nvws.producer_commit %x_token_p0, %slot : !x_token, i32 loc("tokens.py":22:9)
      }
      ttg.warp_return
    }
    partition1(%x_desc_p1: !desc, %x_p1: !x_tiles, %y_p1: !y_tiles, %x_token_p1: !x_token, %y_token_p1: !y_token, %tiles_p1: i32) num_warps(4) {
      %c0_p1 = arith.constant 0 : i32
      %c1_p1 = arith.constant 1 : i32
      %c2_p1 = arith.constant 2 : i32
      %c3 = arith.constant 3 : i32
      scf.for %i = %c0_p1 to %tiles_p1 step %c1_p1 : i32 {
        %x_index = arith.remsi %i, %c3 : i32
        %x_turn = arith.divsi %i, %c3 : i32
        %x_phase = arith.trunci %x_turn : i32 to i1
        nvws.consumer_wait %x_token_p1, %x_index, %x_phase : !x_token, i32, i1 loc("tokens.py":23:9)
        %x_slot = ttg.memdesc_index %x_p1[%x_index] : !x_tiles -> !tile
        %value = ttg.local_load %x_slot : !tile -> !values loc("tokens.py":24:9)
        %double = arith.addf %value, %value : !values
        %y_index = arith.remsi %i, %c2_p1 : i32
        %y_turn = arith.divsi %i, %c2_p1 : i32
        %y_phase = arith.trunci %y_turn : i32 to i1
        nvws.producer_acquire %y_token_p1, %y_index, %y_phase : !y_token, i32, i1 loc("tokens.py":26:9)
        %y_slot = ttg.memdesc_index %y_p1[%y_index] : !y_tiles -> !tile
        ttg.local_store %double, %y_slot : !values -> !tile loc("tokens.py":27:9)
        nvws.producer_commit %y_token_p1, %y_index : !y_token, i32 loc("tokens.py":28:9)
      }
      ttg.warp_return
    } : (!desc, !x_tiles, !y_tiles, !x_token, !y_token, i32) -> ()
    tt.return
  }
}
