tt.func @f() {
  cf.br ^bb2
^bb1:
  "use"(%later#1, %later) : (f32, i32) -> ()
  tt.return
^bb2:
  %later:2 = "def"() : () -> (i32, f32)
  cf.br ^bb1
}
module {
  "graph"(%below) : (i32) -> ()
  %below = "def"() : () -> i32
}
