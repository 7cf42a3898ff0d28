// A tensor and a number cross from one partition to others; what makes them and takes them is in no dialect. Whatever
// makes them is not made twice, though it takes nothing: both have to be handed on.
#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
!row = tensor<128xf32, #blocked>

module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:100"} {
  tt.func @handed_on(%n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      %row = "make_row"() {ttg.partition = array<i32: 0>} : () -> !row
      "take_row"(%row) {ttg.partition = array<i32: 1>} : (!row) -> ()
      "take_row"(%row) {ttg.partition = array<i32: 2>} : (!row) -> ()
      %scale = "make_scale"() {ttg.partition = array<i32: 1>} : () -> f32
      "take_scale"(%scale) {ttg.partition = array<i32: 2>} : (f32) -> ()
      %same = arith.constant {ttg.partition = array<i32: 0>} dense<0.0> : !row
      "take_row"(%same) {ttg.partition = array<i32: 1>} : (!row) -> ()
      %own = "make_row"() {ttg.partition = array<i32: 2>} : () -> !row
      "take_row"(%own) {ttg.partition = array<i32: 2>} : (!row) -> ()
    } {ttg.partition.stages = [0 : i32, 1 : i32, 1 : i32], ttg.warp_specialize.tag = 0 : i32}
    tt.return
  }
}
