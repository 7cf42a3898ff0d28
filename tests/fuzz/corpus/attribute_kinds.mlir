"t.attributes"() <{p = 1 : i8}> {
  integer = -4 : i64, plain = 3, hex = 0xFF800000 : f32, real = 1.000000e+00 : f16,
  yes = true, no = false, text = "a \"quoted\" \0A\5C", typed = "x" : i32, flag, u = unit,
  symbol = @a::@"b c"::@c, type = tensor<?x4xf32>, fn = (i32, f32) -> (i1),
  list = [1, "a", [], {k = 2}], ints = array<i32: 0, -1>, none = array<i64>, bools = array<i1: true, false>,
  reals = array<f32: 1.0, 2.5>, dense = dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>, bits = dense<"0x0011"> : tensor<2xi8>,
  resource = dense_resource<blob> : tensor<1xf32>, sparse = sparse<[[0]], [1]> : tensor<4xi32>,
  map = affine_map<(d0)[s0] -> (d0 * s0)>, set = affine_set<(d0) : (d0 >= 0)>, strides = strided<[1, 2], offset: 3>,
  dialect = #x.y<{a = [1]}>, bare = #x.y, distinct = distinct[0]<>, "quoted-key" = 1 : i32, x.y.z = 5 : index
} : () -> ()
