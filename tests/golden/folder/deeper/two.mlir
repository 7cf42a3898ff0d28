module @two {
}
