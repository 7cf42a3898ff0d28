tt.func @k(%n: i32) {
  ttg.warp_specialize(%n)
  default {
    ttg.warp_yield
  }
  partition0(%m: i32) num_warps(4) {
    %twice = arith.addi %m, %m : i32
    ttg.warp_return
  }
  partition1(%m: i32) num_warps(2) {
    %more = arith.addi %twice, %m : i32
    ttg.warp_return
  } : (i32) -> ()
  tt.return
}
