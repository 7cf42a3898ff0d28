#says = "#says is a word here"
!row = tensor<4x!row>
