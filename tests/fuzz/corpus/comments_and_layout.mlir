// first
module { // after a brace
  // alone
  tt.func @f(%x : i32, // in a list
             %y: tensor < 4xf32 >) {
	tt.return // at the end
  }
}
// no line end