"""All that leans on Numba's inside: vector registers, threads that meet at barriers, and compiled code kept on disk.

Nothing outside of this folder writes intrinsics or knows where Numba keeps what it compiles.
"""

from mcquack.simulators.compiled.notice import listen

listen()
