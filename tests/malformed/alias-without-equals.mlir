!row tensor<128xf32>
module {
}
