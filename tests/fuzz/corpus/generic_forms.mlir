"builtin.module"() ({
  "tt.func"() <{sym_name = "f", function_type = (i1) -> ()}> ({
  ^bb0(%c: i1):
    %0:2 = "use.two"(%c) : (i1) -> (i32, f32)
    "cf.cond_br"(%c, %0#0)[^bb1, ^bb2] <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (i1, i32) -> ()
  ^bb1(%x: i32):
    "tt.return"() : () -> ()
  ^bb2:
    "tt.return"() {a.b} : () -> ()
  }) : () -> ()
}) : () -> ()
"placeholder"() ({}, {
^bb0:
}) : () -> ()
