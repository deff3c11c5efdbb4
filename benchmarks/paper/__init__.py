"""The experiments of Cipolla and Gondzio (2021), repeated."""
