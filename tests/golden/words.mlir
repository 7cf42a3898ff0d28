// Attributes of every kind, strings with escapes, numbers in all their spellings.
module attributes {
    "not an identifier" = 1 : i32, "ttg.num-warps" = 4 : i32, test.empty = {}, test.unit, test.none = [],
    test.escapes = "tab \t, quote \" or \22, backslash \\, new line \0A, // no comment",
    test.hex = 0xFF : i32, test.nan = 0x7FC00000 : f32, test.minus = -1 : i8, test.zero = -0.000000e+00 : f64,
    test.short = 1.e3 : f16, test.huge = 340282366920938463463374607431768211455 : i128, test.bool = true,
    test.symbol = @a::@"b c"::@d, test.function = (i32, f32) -> (), test.type = !tt.ptr<f32, 3>,
    test.map = affine_map<(d0, d1)[s0] -> (d0 + s0, d1 floordiv 2)>, test.array = array<i64: 1, -2>,
    test.flags = array<i1: true, false>, test.distinct = distinct[0]<>, test.nested = [{a = [1, {b}]}, "c"],
    test.di = #llvm.di_file<"a.py" in "src">
} {
  tt.func @words() {
    %0 = arith.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
    %1 = arith.constant dense<0xFF800000> : tensor<4xf32>
    %2 = arith.constant {test.note = "before the value"} 0x7F800000 : f32
    %3 = arith.constant false
    %4 = "types"() : () -> (!llvm.struct<(i32, ptr<3>)>)
    %5 = "types"() : () -> memref<?xf32, strided<[1], offset: ?>>
    %6:3 = "types"() : () -> (vector<[4]xf32>, tensor<*xi1>, (f8E4M3FN, bf16) -> tuple<>)
    tt.return
  }
}
