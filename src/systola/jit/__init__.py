"""How Python functions become kernels."""
