module attributes {ttg.target = "cuda:90", ttg.shared = 32 : i32 {
  tt.func @f() {
    tt.return
  }
}
