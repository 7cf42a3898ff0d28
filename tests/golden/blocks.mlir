// Branches; %later is used in a block that stands before the one that defines it.
tt.func @blocks(%c: i1, %a: i32, %b: i32) -> (i32, i1) {
  cf.cond_br %c, ^left(%a : i32), ^right(%a, %b : i32, i32)
^out:
  tt.return %later, %c : i32, i1
^left(%x: i32):
  cf.br ^join(%x : i32)
^right(%y: i32, %z: i32):  // pred: ^entry
  %sum = arith.addi %y, %z : i32
  cf.br ^join(%sum : i32)
^join(%last: i32):  // 2 preds: ^left, ^right
  %later = arith.muli %last, %b : i32
  cf.br ^out
}
