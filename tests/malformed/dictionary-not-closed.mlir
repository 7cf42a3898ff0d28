tt.func @f() {
  %0 = tt.make_range {end = 64 : i32, start = 0 : i32 : tensor<64xi32>
  tt.return
}
