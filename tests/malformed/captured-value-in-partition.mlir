tt.func @k(%n: i32) {
  ttg.warp_specialize()
  default {
    ttg.warp_yield
  }
  partition0() num_warps(4) {
    %c = arith.constant 1 : i32
    %0 = arith.addi %c, %n : i32
    ttg.warp_return
  } : () -> ()
  tt.return
}
