tt.func private @g(i32) -> i32
tt.func @f(%a: i32) {
  %0 = tt.call @g(%a) : (i32, i32) -> i32
  tt.return
}
