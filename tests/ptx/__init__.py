"""Executes PTX, the assembly that a GPU's driver is given, on a CPU: evidence about GPU code where there is no GPU.

    parse       text of a module -> `program`: variables, functions, instructions
    translate   instructions -> C, one file for each family of instructions; `scope` knows what names mean
    build       C -> a shared library, by gcc; kept by its digest
    execute     launches a kernel of the library on NumPy arrays, in place
    device      the `Device` of systola's CUDA backend that launches through all of this
    runtime     C headers that each translation includes: arithmetic, memory checks, threads and their meetings

Threads run one after another, in an order that is drawn anew from a seed. A thread that waits for others (a barrier, a
shuffle, a vote) gives way to the next one. If asked, each access is checked to lie in an array that the kernel was
given, and races between threads are found: two unordered accesses to the same byte, one of them a write.

What this cannot show: what the driver makes of the PTX, and what real threads do that run at the same time. Approximate
instructions (`ex2.approx`) are computed exactly. Half precision, `activemask` and rounding other than to the nearest
are refused; so is every instruction or modifier that is not known.
"""
