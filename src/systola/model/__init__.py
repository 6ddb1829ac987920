"""What a problem is: the functions that kernels call, and the capabilities that bundle them."""
