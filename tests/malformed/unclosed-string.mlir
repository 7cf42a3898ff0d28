tt.func @f(%c: i1) {
  tt.assert %c, "the index is out of range : i1
  tt.return
}
