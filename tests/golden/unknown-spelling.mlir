// Known ops in a form that no known release writes.
tt.func @spelling(%a: i32, %p: !tt.ptr<f32>) {
  %0 = arith.addi %a %a : i32
  %1 = arith.cmpi lt, %a, %a : i32
  %2 = tt.load %p, volatile : !tt.ptr<f32>
  %3 = arith.muli %a, %a : i32 i32
  %4 = arith.subi %3, %a : i32
  tt.return
}
