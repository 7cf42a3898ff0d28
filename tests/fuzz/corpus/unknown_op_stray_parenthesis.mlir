module {
  my.op {}
my.op
  )
}
