"""How Python functions become kernels: records, dispatch by type, compiling, the cache on disk, threads."""
