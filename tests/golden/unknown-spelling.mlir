// Known ops in a form that no known release writes.
tt.func @spelling(%a: i32, %p: !tt.ptr<f32>) {
  %0 = arith.addi %a %a : i32
  %1 = tt.load %p, volatile : !tt.ptr<f32>
  %2 = arith.muli %a, %a : i32 i32
  %3 = arith.subi %2, %a : i32
  tt.return
}
