!s = !x.y<// "
  #undefined>
