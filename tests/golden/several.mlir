// Three modules; each has its own aliases and names.
#a = 1 : i32
module @first attributes {test.x = #a} {
}
// -----
#a = 2 : i32
module @second attributes {test.x = #a} {
}

// -----

tt.func @third() {
  tt.return
}
