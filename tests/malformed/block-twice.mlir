tt.func @f() {
  cf.br ^exit
^exit:
  cf.br ^exit
^exit:
  tt.return
}
