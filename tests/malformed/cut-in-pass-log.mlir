// -----// IR Dump Before TritonGPUCoalesce (tritongpu-coalesce) ('builtin.module' operation) //----- //
module {
  tt.func @f(%a: i32) {
    %0 = arith.addi %a, %a : i32
// -----// IR Dump Before TritonGPUPipeline (tritongpu-pipeline) ('builtin.module' operation) //----- //
module {
  tt.func @f() {
    tt.return
  }
}
