"""Compile inner functions in half the time, by private places of Numba. Nothing depends on it.

Numba makes of every function a module of its own, with everything below it, optimises that, and emits machine code;
whoever calls the function has all of it optimised and emitted again. Here an inner function stops after lowering: its
code waits in the modules of its callers until an entry, which Python calls, optimises the whole and emits it.
"""

from typing import Any

from numba import _dynfunc
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
    """Lower a function into code that waits, and register it where callers look for it."""

    _name = "inner_lowering"

    def run_pass(self, state: Any) -> bool:
        state.library = _Waiting(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        lowered = state.cr
        # Numba finds the versions of a function by the objects that Python would call; nobody calls this one.
        key = _dynfunc.make_function(
            lowered.fndesc.lookup_module(), lowered.fndesc.qualname, "", 0, lowered.env, (state.library,)
        )
        state.targetctx.insert_user_function(key, lowered.fndesc, [state.library])
        state["cr"] = lowered._replace(cfunc=key)
        return True


# Passes of Numba that look for what no inner function has: closures, functions to be inlined before their types are
# known, with-blocks, expressions of whole arrays; and one that marks where variables end, for those who count
# references. Together they take a tenth of the time to compile. A name that Numba does not have skips nothing.
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


OPTIONS = {"no_cpython_wrapper": True, "pipeline_class": _InnerCompiler}
