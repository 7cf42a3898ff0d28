tt.func @f(%c: i1, %x: i32) {
  cf.cond_br %c weights([1, 2]), ^bb1(%x, %c : i32, i1), ^bb3
^bb1(%a: i32, %b: i1 loc("b")):  // 2 preds
  cf.br ^bb2
^bb2:
  %late = arith.addi %a, %x : i32
  cf.br ^bb1(%late, %b : i32, i1)
^bb3:
  llvm.unreachable
}
