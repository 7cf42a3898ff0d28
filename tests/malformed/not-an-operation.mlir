tt.func @f(%a: i32) {
  addi %a, %a : i32
  tt.return
}
