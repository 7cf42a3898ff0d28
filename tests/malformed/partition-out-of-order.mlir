tt.func @k() {
  ttg.warp_specialize()
  default {
    ttg.warp_yield
  }
  partition1() num_warps(4) {
    ttg.warp_return
  } : () -> ()
  tt.return
}
