module attributes {d = dense_resource<blob> : tensor<1xi32>} {
}
{-#
  dialect_resources: {
    builtin: { blob: "0x0400000001000000" }
  }
#-}
