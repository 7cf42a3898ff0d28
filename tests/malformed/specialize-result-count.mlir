tt.func @k(%n: i32) {
  %r = ttg.warp_specialize(%n)
  default {
    ttg.warp_yield %n : i32
  }
  partition0(%m: i32) num_warps(4) {
    ttg.warp_return
  } : (i32) -> (i32, i32)
  tt.return
}
