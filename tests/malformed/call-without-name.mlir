tt.func @f() {
  tt.call @() : () -> ()
  tt.return
}
