"""How cost grows with the number of rows."""
