"""Inner functions, which only compiled code calls: lowered once, and optimised within the entries that use them.

Numba makes of every function a module of its own, with everything below it, optimises that, emits machine code, and
adds wrappers for Python and for C; whoever calls the function has all of it optimised and emitted again. For the
hundred small functions of an epoch that is most of the time to compile. An inner function stops after lowering: its
code waits in the modules of its callers until an entry, which Python calls, optimises the whole and emits it.
"""

from collections.abc import Callable
from functools import cached_property, update_wrapper
from typing import Any

from numba import _dynfunc, njit
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering


class _Waiting(JITCodeLibrary):
    """The code of an inner function and of those below it, as it was lowered."""

    def finalize(self) -> None:
        for library in dict.fromkeys(self._linking_libraries):
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class _InnerLowering(NativeLowering):
    """Lowers a function into code that waits, and tells Numba where callers find it."""

    _name = "inner_lowering"

    def run_pass(self, state: Any) -> bool:
        state.library = _Waiting(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        lowered = state.cr
        # Numba knows the versions of a function by the objects that Python would call; nobody calls this one.
        key = _dynfunc.make_function(
            lowered.fndesc.lookup_module(), lowered.fndesc.qualname, "", 0, lowered.env, (state.library,)
        )
        state.targetctx.insert_user_function(key, lowered.fndesc, [state.library])
        state["cr"] = lowered._replace(cfunc=key)
        return True


class _InnerCompiler(CompilerBase):
    def define_pipelines(self) -> list[Any]:
        pipeline = DefaultPassBuilder.define_nopython_pipeline(self.state)
        pipeline.passes = [(_InnerLowering if each is NativeLowering else each, why) for each, why in pipeline.passes]
        pipeline.finalize()
        return [pipeline]


# How inner functions are compiled, for ``inner`` and for ``overload(..., jit_options=INNER)``. Arrays come from Python,
# which holds them as long as the call lasts: nothing counts references here.
INNER = {
    "nogil": True,
    "_nrt": False,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "pipeline_class": _InnerCompiler,
}


class _Inner:
    """A function for compiled code; Python may call it too, and gets one that is compiled on its own."""

    def __init__(self, function: Callable[..., Any]) -> None:
        update_wrapper(self, function)
        self.py_func = function
        self._within = njit(**INNER)(function)

    @property
    def _numba_type_(self) -> Any:
        """What Numba asks every object for that it meets in code."""
        return self._within._numba_type_

    @cached_property
    def _alone(self) -> Any:
        return njit(nogil=True)(self.py_func)

    def __call__(self, *arguments: Any) -> Any:
        return self._alone(*arguments)


def inner(function: Callable[..., Any]) -> Any:
    """Makes a function part of the compiled functions that call it."""
    return _Inner(function)
