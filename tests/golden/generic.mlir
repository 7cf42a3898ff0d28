// Ops in the generic form: those that have no other, and those that have one.
"builtin.module"() ({
  "tt.func"() <{arg_attrs = [{tt.divisibility = 16 : i32}, {}], function_type = (!tt.ptr<f32>, tensor<64xf32>) -> (), sym_name = "total", sym_visibility = "public"}> ({
  ^bb0(%out: !tt.ptr<f32>, %row: tensor<64xf32>):
    %sum = "tt.reduce"(%row) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %s = "arith.addf"(%a, %b) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "tt.reduce.return"(%s) : (f32) -> ()
    }) : (tensor<64xf32>) -> f32
    %most:2 = "tt.reduce"(%row, %row) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
      %m = arith.maxnumf %a, %c : f32
      %n = arith.maxnumf %b, %d : f32
      tt.reduce.return %m, %n : f32, f32
    }) {"a note" = "kept", unit_one} : (tensor<64xf32>, tensor<64xf32>) -> (f32, f32)
    "tt.store"(%out, %sum) <{boundaryCheck = array<i32>, cache = 1 : i32, evict = 1 : i32}> : (!tt.ptr<f32>, f32) -> ()
    "cf.br"(%most#1)[^end] : (f32) -> ()
  ^end(%last: f32):
    "tt.return"() : () -> ()
  }) {noinline = false} : () -> ()
  "use"() ({}, {
  ^only:
  }) : () -> ()
}) : () -> ()
