module {
  my.op {b - 1
}
