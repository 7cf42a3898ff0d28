def f():
  """
  # weir: ignore[race] no
  """
  x = (1,  # weir: ignore[race.war] yes
# weir: ignore[]
2)
  y = '\
' # weir: ignore[race
