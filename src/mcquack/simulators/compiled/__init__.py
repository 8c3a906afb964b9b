"""All that leans on Numba: vector registers, threads that meet at barriers, and compiled code kept on disk.

Nothing outside of this folder writes intrinsics or decides how functions are compiled.
"""
