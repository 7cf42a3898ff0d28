tt.func @k() {
  ttg.warp_specialize(%n)
  default {
    ttg.warp_yield
  }
  partition0(%m: i32) num_warps(4) {
    ttg.warp_return
  } : (i32) -> ()
  tt.return
}
