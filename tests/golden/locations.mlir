#loc = loc("where.py":1:0)
module {
  tt.func @where(%a: i32 loc("a"), %b: i32 loc("b"(#loc))) -> i32 {
    %0 = arith.addi %a, %b : i32 loc("where.py":2:4)
    %1 = arith.addi %0, %b : i32 loc("sum"("where.py":3:4))
    %2 = arith.addi %1, %b : i32 loc(callsite("inner"("where.py":9:1) at "where.py":4:4))
    %3 = arith.addi %2, %b : i32 loc(callsite(#loc at callsite("x" at unknown)))
    %4 = arith.addi %3, %b : i32 loc(fused["where.py":5:4, "where.py":6:4, #loc])
    %5 = arith.addi %4, %b : i32 loc(fused<"why">[#loc, unknown])
    %6 = arith.addi %5, %b : i32 loc("where.py":7:4 to 8:9)
    %7 = arith.addi %6, %b : i32 loc("where.py":7:4 to :9)
    %8 = arith.addi %7, %b : i32 loc(unknown)
    cf.br ^end(%8 : i32) loc(#loc)
  ^end(%c: i32 loc("c")):
    tt.return %c : i32 loc("quote \22 and \\ here")
  } loc(#loc)
} loc(unknown)
