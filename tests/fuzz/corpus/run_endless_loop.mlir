// Loops that end for no argument: launches are chosen by trying, and that must come to an end.
module {
  tt.func @kernel(%n: i32, %m: i32) {
    %c1 = arith.constant 1 : i32
    %true = arith.constant true
    %0 = scf.while (%a = %n) : (i32) -> i32 {
      scf.condition(%true) %a : i32
    } do {
    ^bb0(%a: i32):
      %1 = arith.addi %a, %c1 : i32
      scf.yield %1 : i32
    }
    scf.for %i = %0 to %m step %c1 : i32 {
    }
    tt.return
  }
  tt.func @branches(%n: i32) {
    %c1 = arith.constant 1 : i32
    cf.br ^bb1
  ^bb1:
    scf.for %i = %n to %n step %c1 : i32 {
    }
    cf.br ^bb1
  }
}
