// Functions of all dialects, declarations, calls, modules in modules.
module @outer {
  tt.func private @declared(i32 {tt.divisibility = 16 : i32}, !tt.ptr<f32>) -> (f32, i1)
  tt.func private @named(%a: i32, %b: f32)
  tt.func public @caller(%a: i32, %p: !tt.ptr<f32>) -> (f32 {test.result}, i1) attributes {noinline = true} {
    %0:2 = tt.call @declared(%a, %p) : (i32, !tt.ptr<f32>) -> (f32, i1)
    tt.call @nothing() : () -> ()
    tt.return %0#0, %0#1 : f32, i1
  }
  tt.func @nothing() -> () {
    tt.return
  }
  module @inner attributes {test.a} {
    func.func @"a name in quotes"(%a: i32) -> i32 {
      %0 = call @f(%a) : (i32) -> i32
      %1 = func.call @f(%0) : (i32) -> i32
      return %1 : i32
    }
    func.func private @f(i32) -> i32
    llvm.func @printf(!llvm.ptr, ...) -> i32
    builtin.module {
    }
  }
}
