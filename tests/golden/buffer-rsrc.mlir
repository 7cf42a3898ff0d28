// A descriptor of a buffer, as MLIR's rocdl dialect prints it: the name of the result's type is left out.
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @made(%base: !llvm.ptr<1>, %stride: i16, %records: i64, %flags: i32) {
    %0 = rocdl.make.buffer.rsrc %base, %stride, %records, %flags : !llvm.ptr<1> to <8>
    tt.return
  }
  tt.func public @of_32_bits(%base: !llvm.ptr, %stride: i16, %records: i32, %flags: i32) {
    %0 = rocdl.make.buffer.rsrc %base, %stride, %records, %flags : !llvm.ptr to <8>
    %1 = rocdl.raw.ptr.buffer.load %0, %flags, %flags, %flags : i32
    tt.return
  }
  tt.func public @stored_to(%base: !llvm.ptr<1>, %stride: i16, %records: i64, %flags: i32) {
    %zero = arith.constant 0 : i32
    %id = tt.get_program_id x : i32
    %0 = rocdl.make.buffer.rsrc %base, %stride, %records, %flags : !llvm.ptr<1> to <8>
    rocdl.raw.ptr.buffer.store %id, %0, %zero, %zero, %zero : i32
    tt.return
  }
}
