module {
  my.op {}>
}
