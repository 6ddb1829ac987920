"""Whatever private part of Numba is missing or of another shape, runs give the same numbers, by the public way."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numba
import numpy as np
import pytest
from numba.core.caching import NullCache
from numba.core.lowering import BaseLower

from systola.jit import private
from systola.jit.compile import called, inlined, kernel, unaliased

# Before systola is imported, parts are taken away; those that Numba itself cannot do without get a parameter more.
PROGRAM = """
import json
import sys
from importlib import import_module

import numba

for how, module, name in json.loads(sys.argv[1]):
    owner = import_module(module)
    *path, last = name.split(".")
    for part in path:
        owner = getattr(owner, part)
    if how == "hide":
        sys.modules[f"{module}.{name}"] = None
    elif how == "remove":
        delattr(next(o for o in getattr(owner, "__mro__", [owner]) if last in vars(o)), last)
    else:
        def reshaped(*args, usual=getattr(owner, last), **kwargs):
            return usual(*args, **kwargs)
        setattr(owner, last, reshaped)

import systola as sy
from own_problems import OneMax
from systola.backends import cpu
from systola.jit import private, thread_team

calls = []
usual = private.compiled_for
thread_team.compiled_for = lambda *args: calls.append(usual(*args)) or calls[-1]

found = sy.solve(OneMax(40), sy.RS(size=40), stop=sy.Iterations(20), seed=5, threads=2)
numbers = [found.objective, found.found_at, found.solution.tolist(), [s.objective for s in found.trace.samples]]
print(json.dumps({
    "numbers": repr(numbers),
    "backend": found.backend,
    "has": {
        "sparing": private._IS_SPARING,
        "shared": private._IS_SHARED,
        "cache": private._IS_KEPT,
        "settled": calls[0] is not cpu.run_orders,
        "linked": "Linked_" in str(cpu.run_orders.signatures),
        **{name: name in {**private.INLINED, **private.UNALIASED} for name in ("forceinline", "noalias", "_nrt")},
    },
}))
"""
CPU, CODEGEN, TEMPLATES = "numba.core.cpu", "numba.core.codegen", "numba.core.typing.templates"
# What is done to which part; and what is done without then.
PARTS = {
    "make_function": (("hide", "numba", "_dynfunc"), {"sparing"}),
    "get_executable": (("reshape", CPU, "CPUContext.get_executable"), {"sparing"}),
    "optimize": (("reshape", CODEGEN, "CPUCodeLibrary._optimize_final_module"), {"sparing"}),
    "finalize": (("reshape", CODEGEN, "CPUCodeLibrary._finalize_final_module"), {"sparing"}),
    "globals": (("reshape", CODEGEN, "CPUCodeLibrary._finalize_dynamic_globals"), {"sparing"}),
    "symbols": (("reshape", CODEGEN, "CPUCodeLibrary._verify_declare_only_symbols"), {"sparing"}),
    "implementation": (("reshape", TEMPLATES, "_OverloadFunctionTemplate._get_impl"), {"shared"}),
    "build": (("reshape", TEMPLATES, "_OverloadFunctionTemplate._build_impl"), {"shared"}),
    "options": (("remove", CPU, "CPUTargetOptions"), {"forceinline", "noalias", "_nrt"}),
    "mapping": (("reshape", "numba.core.options", "TargetOptions.Mapping.__init__"), {"noalias"}),
    "forceinline": (("remove", CPU, "CPUTargetOptions.forceinline"), {"forceinline"}),
    "nrt": (("remove", CPU, "CPUTargetOptions._nrt"), {"_nrt"}),
    "load": (("reshape", "numba.core.caching", "NullCache.load_overload"), {"cache"}),
    "save": (("reshape", "numba.core.caching", "NullCache.save_overload"), {"cache"}),
    "reduce": (("remove", "numba.core.compiler", "CompileResult._reduce"), {"cache"}),
    "rebuild": (("remove", "numba.core.compiler", "CompileResult._rebuild"), {"cache"}),
    "runtime": (("reshape", "numba.core.runtime", "rtsys.__class__.initialize"), set()),
    "refresh": (("reshape", CPU, "CPUContext.refresh"), {"cache"}),
    "processor": (("reshape", CODEGEN, "CPUCodegen.magic_tuple"), {"cache"}),
    "dumps": (("reshape", "numba.core.serialize", "dumps"), {"cache"}),
    "address": (("reshape", CODEGEN, "JITCodeLibrary.get_pointer_to_function"), {"linked"}),
    "convention": (("reshape", "numba.core.callconv", "CPUCallConv.call_function"), {"linked"}),
    "get_overload": (("reshape", "numba.core.dispatcher", "Dispatcher.get_overload"), {"settled"}),
}


def run(kept, *changes):
    path = os.pathsep.join(p for p in sys.path if p)  # for the problems of tests
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(changes)],
        env={**os.environ, "PYTHONPATH": path, **kept},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


@pytest.fixture(scope="module")
def usual():
    """By the kernels of these tests, which other tests compile, too."""
    found, told = run({})
    assert "Warning" not in told  # on a slow machine it tells of what is compiled
    return found


def check(usual, cache, changes, lost):
    found, told = run({"SYSTOLA_CACHE_DIR": str(cache)}, *changes)
    assert (found["numbers"], found["backend"]) == (usual["numbers"], "cpu")
    assert {name for name, there in found["has"].items() if not there} == lost
    assert told.count("CacheWarning: compiled kernels cannot be kept with Numba") == ("cache" in lost)
    assert any(cache.rglob("*.nbc")) == ("cache" not in lost)


def test_with_all_of_them(usual):
    assert all(usual["has"].values())


@pytest.mark.long
@pytest.mark.parametrize("part", PARTS)
def test_without_a_part(part, usual, tmp_path):
    change, lost = PARTS[part]
    check(usual, tmp_path, [change], lost)


def test_without_all_of_them(usual, tmp_path):
    parts = ("make_function", "options", "rebuild", "address", "get_overload", "build")
    check(usual, tmp_path, [PARTS[part][0] for part in parts], set().union(*(PARTS[part][1] for part in parts)))


def test_a_helper_is_compiled_once_for_all_callers(monkeypatch):
    @called
    def large(x):
        return x + 1

    @inlined
    def around(x):
        return 2 * large(x)

    @unaliased
    def beside(x):
        return 3 * large(x[0])

    @kernel
    def all_of_them(x):
        return large(x[0]) + around(x[0]) + beside(x)

    lowered, usual = [], BaseLower.__init__

    def note(self, context, library, fndesc, *rest, **named):
        lowered.append(fndesc.qualname.rpartition(".")[2])
        usual(self, context, library, fndesc, *rest, **named)

    monkeypatch.setattr(BaseLower, "__init__", note)
    monkeypatch.setattr(all_of_them, "_cache", NullCache())  # an earlier run may have left it compiled
    assert all_of_them(np.array([5])) == 6 + 12 + 18
    assert lowered.count("large") == 1


class Passes:
    """A pass manager of LLVM, of the kind that is run with so many arguments."""

    def __init__(self, arguments):
        self.arguments, self.ran = arguments, 0

    def run(self, *arguments):
        if len(arguments) != self.arguments:
            raise TypeError
        self.ran += 1


def test_helpers_are_made_smaller_by_the_first_round_of_passes():
    passes = Passes(2)
    codegen = SimpleNamespace(_loopvect=True, _opt_level=3, _module_pass_manager=lambda **options: (passes, "builder"))
    private._optimize_sparingly(SimpleNamespace(_for_linking_only=True, _codegen=codegen, _final_module="module"))
    assert passes.ran == 1


@pytest.mark.parametrize("made", [Passes(2), (Passes(3), "builder"), (Passes(2),), (None, None), None])
def test_helpers_are_compiled_as_usual_where_passes_are_otherwise(made, monkeypatch):
    codegen = SimpleNamespace(_loopvect=True, _opt_level=3, _module_pass_manager=lambda **options: made)
    optimized = []
    monkeypatch.setattr(private, "_optimize_final_module", optimized.append)
    library = SimpleNamespace(_for_linking_only=True, _codegen=codegen, _final_module="module")
    private._optimize_sparingly(library)
    assert optimized == [library]


def test_helpers_are_compiled_as_usual_where_their_description_is_otherwise(monkeypatch):
    executables = []
    monkeypatch.setattr(private, "_get_executable", lambda *args: executables.append(args))
    library = SimpleNamespace()
    with private._kernel():
        private._get_executable_sparingly("context", library, SimpleNamespace(), "environment")
    assert len(executables) == 1
    assert not private._is_for_linking_only(library)


def test_the_versions_allowed_are_those_tested():
    root = Path(__file__).parents[2]
    project, oldest = ((root / name).read_text() for name in ("pyproject.toml", "constraints-oldest.txt"))
    for package in ("numba", "numpy"):
        bound = re.search(rf'"{package}>=([\d.]+)', project).group(1)
        assert f"{package}=={bound}\n" in oldest
    above = re.search(r'"numba>=[\d.]+,<([\d.]+)"', project).group(1)
    least = re.search(r"numba==([\d.]+)", oldest).group(1)
    versions = [tuple(int(n) for n in version.split(".")) for version in (least, numba.__version__, above)]
    assert versions == sorted(versions)


def test_values_of_one_kind_are_of_one_type():
    """Or a kernel would be called with arguments that it was not compiled for."""
    table = np.zeros((4, 6), np.int64)
    frozen = table.copy()
    frozen.flags.writeable = False
    packed = np.zeros(9, [("a", np.uint8), ("b", np.int64)])["b"]
    values = [
        *(table, table.T, table[1], table[:, 1], table[:, :1], table[:0], np.asfortranarray(table), frozen, packed),
        *(table.astype(kind) for kind in (np.int32, np.uint64, np.float64, bool)),
        *(1, np.int64(1), np.int32(1), 1.0, True, (1, 2), (1, 2.0), (table, 1), (table.T, 1)),
    ]
    for one in values:
        for other in values:
            if private.kind_of(one) == private.kind_of(other):
                assert numba.typeof(one) == numba.typeof(other)
