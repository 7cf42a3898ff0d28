tt.func @f() {
  %0 = tt.make_range {start = 0 : i32, end = 64 : i32, start = 1 : i32} : tensor<64xi32>
  tt.return
}
