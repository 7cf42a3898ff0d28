tt.func @k(%a: i32) {
  ttg.warp_specialize(%a)
  default {
    ttg.warp_yield
  }
  partition0(%x: f32) num_warps(4) {
    ttg.warp_return
  } : (i32) -> ()
  tt.return
}
