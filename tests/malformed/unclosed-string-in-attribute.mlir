module attributes {ttg.target = "cuda:90} {
  tt.func @f() {
    tt.return
  }
}
