#loc = loc("kernel.py":12:4)
#loc1 = loc("name"(#loc))
#loc2 = loc(callsite(#loc at "other.py":1:2))
#loc3 = loc(fused<{x = 1}>[#loc, unknown, "a.py":3:4 to 5:6])
module {
  tt.func @f(%a: i32 loc("a"(#loc1)), %b: i32 loc(unknown)) {
    %0 = arith.addi %a, %b : i32 loc(#loc2)
    tt.return loc(?)
  } loc(#loc3)
} loc(#loc)
