tt.func @f(%a: i32) {
  %0:2 = "arith.addi"(%a, %a) : (i32, i32) -> i32
  tt.return
}
