// How the input is laid out makes no difference.
module{tt.func@f(%a:i32)->i32 attributes{noinline=false}{%0=arith.addi%a,%a:i32 tt.return%0:i32}}
module // a comment after every word
  { // one
  tt.func // two
    @g // three
    ( // four
      %a : // five
        i32, %b
        : tensor<4x // no comment may stand here, but a space may
          f32>
    )
  { // six
			%0 = arith.addi %a,

      %a
      : i32
    "use"(%0
      ) {x = [1,
              2], y} : (i32)
      -> ()
    tt.return // seven
  }
  // eight
}
