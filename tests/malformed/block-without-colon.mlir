tt.func @f() {
  cf.br ^exit
^exit
  tt.return
}
