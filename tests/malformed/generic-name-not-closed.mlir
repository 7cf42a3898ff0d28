tt.func @f(%a: i32) {
  %0 = "arith.addi(%a, %a) : (i32, i32) -> i32
  tt.return
}
