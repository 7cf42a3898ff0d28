// RUN: tool %s
module {
}

// -----

#a = 1 : i32
module attributes {a = #a} {
}
// -----
//--- part.mlir
tt.func @f() {
  tt.return
}
