llvm.func internal @helper() attributes {dso_local} {
  llvm.return
}
llvm.mlir.global internal constant @text("hi\00") {addr_space = 0 : i32}
