tt.func @f(%c: i1) {
  scf.if %c {
    cf.br ^exit
  }
  cf.br ^exit
^exit:
  tt.return
}
