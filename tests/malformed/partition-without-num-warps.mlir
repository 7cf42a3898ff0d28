tt.func @k() {
  ttg.warp_specialize()
  default {
    ttg.warp_yield
  }
  partition0() {
    ttg.warp_return
  } : () -> ()
  tt.return
}
