tt.func @f(%x: i32) {
  cf.br ^bb0
^bb0:
  cf.br ^bb_entry
^bb_entry:
  tt.return
}
