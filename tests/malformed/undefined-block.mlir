tt.func @f(%c: i1) {
  cf.cond_br %c, ^yes, ^no
^yes:
  tt.return
}
