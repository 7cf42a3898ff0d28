tt.func @k() {
  ttg.warp_specialize()
  default {
    ttg.warp_yield
  }
  partition0() num_warps(four) {
    ttg.warp_return
  } : () -> ()
  tt.return
}
