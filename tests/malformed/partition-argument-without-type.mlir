tt.func @k(%n: i32) {
  ttg.warp_specialize(%n)
  default {
    ttg.warp_yield
  }
  partition0(%m) num_warps(4) {
    ttg.warp_return
  } : (i32) -> ()
  tt.return
}
