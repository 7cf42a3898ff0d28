module {
}
{-#
  dialect_resources: {
  }
