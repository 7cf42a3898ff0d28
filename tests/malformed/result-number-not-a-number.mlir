tt.func @f(%a: i32) {
  %0 = arith.addi %a, %a#99999999999999999999 : i32
  tt.return
}
