// Ops of no dialect that Weir knows are kept as they are written, line breaks included.
tt.func @unknown(%a: i32, %p: !tt.ptr<f32>) -> i32 {
  %0 = other.first %a, [1, 2] {mode = "fast"} : i32
  %1:2 = other.pair %a -> (i32, f32) loc("where.py":1:2)
  other.bare
  other.text "a } in a string", %p // a comment
  %2 = other.long %0,
                  %1#0 : i32
  other.region %a {
    %3 = arith.addi %a, %a : i32
    other.yield %3 : i32
  } else {
    other.yield %a : i32
  }
  %4 = "other.generic"(%a) <{x = 1 : i32}> : (i32) -> i32
  %5 = arith.addi %2, %4 : i32
  tt.return %5 : i32
}
