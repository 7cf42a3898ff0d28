#blocked =
module {
}
