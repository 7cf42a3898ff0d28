tt.func @f(%a: i32) {
  %x:0 = arith.addi %a, %a : i32
  tt.return
}
