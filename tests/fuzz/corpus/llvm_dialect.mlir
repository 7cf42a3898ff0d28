llvm.mlir.global external @shared() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<0 x i8>
llvm.mlir.global internal constant @text("hello\0A\00") {addr_space = 0 : i32}
llvm.func @kernel(%p: !llvm.ptr<1>, %x: i32, %c: i1) attributes {nvvm.kernel = 1 : ui1} {
  %0 = llvm.mlir.constant(32 : index) : i32
  %1 = llvm.icmp "slt" %x, %0 : i32
  %2 = llvm.add %x, %0 overflow<nsw, nuw> : i32
  %3 = llvm.inline_asm has_side_effects asm_dialect = att "mov $0, $1;", "=r,r" %2 : (i32) -> i32
  %4 = llvm.load %p atomic syncscope("agent") acquire {alignment = 4 : i64} : !llvm.ptr<1> -> i32
  llvm.store volatile %4, %p : i32, !llvm.ptr<1>
  llvm.intr.assume %c : i1
  llvm.cond_br %1, ^bb1(%3 : i32), ^bb2
^bb1(%5: i32):
  llvm.br ^bb2
^bb2:
  llvm.return
}
