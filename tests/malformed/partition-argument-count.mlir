tt.func @k(%a: i32, %b: i32) {
  ttg.warp_specialize(%a, %b)
  default {
    ttg.warp_yield
  }
  partition0(%x: i32) num_warps(4) {
    ttg.warp_return
  } : (i32, i32) -> ()
  tt.return
}
