tt.func @f(%x: i32) {
  ttg.warp_specialize(%x)
  default {
    ttg.warp_yield
  } : (i32, i64) -> ()
  tt.return
}
