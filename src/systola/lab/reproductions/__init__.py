"""The experiments of the papers, repeated: one module a paper, by the name that the command line uses."""
