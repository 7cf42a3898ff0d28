tt.func @f(%a: i32) {
  cf.br ^exit(%a : i32)
^exit(%x):
  tt.return
}
