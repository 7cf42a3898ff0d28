warning: some noise
// -----// IR Dump Before TritonGPUPipeline (tritongpu-pipeline) ('builtin.module' operation) //----- //
#loc = loc("a.py":1:1)
module {
} loc(#loc)


some text in between
// -----// IR Dump After TritonGPUPipeline (tritongpu-pipeline): //----- //
#loc = loc("a.py":1:1)
module {
  tt.func @f() {
    tt.return loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc = loc("a.py":1:1)
module {
} loc(#loc)
