module @zero {
}
