"""Inner functions, which only compiled code calls: lowered once, and optimised within the entries that use them.

Numba makes of every function a module of its own, with everything below it, optimises that, emits machine code, and
adds wrappers for Python and for C; whoever calls the function has all of it optimised and emitted again. For the
hundred small functions of an epoch that is most of the time to compile. An inner function stops after lowering: its
code waits in the modules of its callers until an entry, which Python calls, optimises the whole and emits it.
"""

from collections.abc import Callable, Mapping
from functools import cached_property, update_wrapper
from typing import Any

from numba import _dynfunc, njit, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering

from mcquack.simulators.compiled.entry import entry


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


# Passes of Numba that look for what no inner function has: closures, functions to be inlined before their types are
# known, with-blocks, expressions of whole arrays; and one that marks where variables end, for those who count
# references. Together they take a tenth of the time to compile. A name that Numba no longer knows skips nothing.
_NEEDLESS = frozenset({
    "InlineClosureLikes", "InlineInlinables", "InlineOverloads", "IRLegalization", "LiteralUnroll", "NopythonRewrites",
    "WithLifting",
})  # fmt: skip


class _InnerCompiler(CompilerBase):
    def define_pipelines(self) -> list[Any]:
        pipeline = DefaultPassBuilder.define_nopython_pipeline(self.state)
        needed = [(each, why) for each, why in pipeline.passes if each.__name__ not in _NEEDLESS]
        pipeline.passes = [(_InnerLowering if each is NativeLowering else each, why) for each, why in needed]
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


# The same for functions whose arguments are many arrays: to pass them would take longer than a short function runs.
INLINED = {**INNER, "forceinline": True}


class _Inner:
    """A function for compiled code; Python may call it too, and gets one that is an entry of its own."""

    def __init__(self, function: Callable[..., Any], options: Mapping[str, Any]) -> None:
        update_wrapper(self, function)
        self.py_func = function
        self._within = njit(**options)(function)
        self._within.get_call_template = self._call_template

    @property
    def _numba_type_(self) -> Any:
        """What Numba asks every object for that it meets in code."""
        return self._within._numba_type_

    def _call_template(self, args: Any, kws: Any) -> Any:
        """Numba's, but that a 0 in the code is a whole number like others; else it compiles a version for each."""
        plain = [types.unliteral(each) if isinstance(each, types.IntegerLiteral) else each for each in args]
        return type(self._within).get_call_template(self._within, plain, kws)

    @cached_property
    def _alone(self) -> Any:
        return entry(self.py_func)

    @property
    def stats(self) -> Any:
        """What Numba tells of kept code, for the entry that Python calls."""
        return self._alone.stats

    def __call__(self, *arguments: Any) -> Any:
        return self._alone(*arguments)


def inner(function: Callable[..., Any]) -> Any:
    """Makes a function part of the compiled functions that call it."""
    return _Inner(function, INNER)


def inlined(function: Callable[..., Any]) -> Any:
    """Makes a function part of the compiled functions that call it, in the place of each call."""
    return _Inner(function, INLINED)
