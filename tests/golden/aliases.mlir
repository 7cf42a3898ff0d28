// Aliases of attributes, types and locations, defined before and after they are used.
#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#four = 4 : i32
#options = {stages = #four, "quoted key"}
!row = tensor<128xf32, #blocked>
!pair = tuple<!row, i32>
#loc = loc("alias.py":3:0)
module attributes {test.options = #options, test.list = [#four, #later]} {
  tt.func @f(%a: !row loc("a"(#loc)), %b: !after) -> !row {
    %0 = arith.addf %a, %b : !row loc(#loc1)
    %1 = "pair"(%0) {type = !pair} : (!row) -> !pair loc(#loc)
    tt.return %0 : tensor<128xf32, #blocked> loc(#loc1)
  } loc(#loc)
} loc(#loc)
#later = "defined after its use"
!after = tensor<128xf32, #blocked>
#loc1 = loc("alias.py":4:8)
