"""Random inputs: a text for a reader, or a command line with the files that it names."""

from __future__ import annotations

import copy
import hashlib
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from fuzz import tables
from fuzz.workshop import ISLANDS, RUNS, SEEDS, Workshop, call
from systola import SystolaError
from systola.formats import open_instance
from systola.run.checkpoint import SCHEMA

PROBLEMS = (None, "flowshop", "gap", "knapsack", "mkp", "nrp", "qap")
NUMBERS = ("0", "1", "-1", "2", "3", "007", "+5", "1e3", "1.5", ".5", "-0", "nan", "inf", "9223372036854775808")
NUMBERS += (str(2**62), str(2**40), "1" + "0" * 5000, "0" * 5000 + "7", "0x10", "1_0", "٣", "½", "")
WORDS = ("abc", "[", "]", "[red]", "[/red]", "a=b", "?", "#", "#1", "@", ":", "~", "\udcff", "\t", "ü", "--help", "-h")
PATHS = ("pipe", "directory", "/dev/zero", "/dev/null", "missing/x", "empty", "binary", "deep.json", "deep.toml", "/")
TOKENS = ("+++", "problem", "Reldue", "number", "processing", ":", "r1->r2", "r1·r2", "|", "\n", "-1", "0.5", ".", "+")


def mutate(random: Random, text: str) -> bytes:
    """A text with some words changed, lost, doubled, or very long."""
    words = text.replace("\n", " \n ").split(" ")
    for _ in range(random.randint(1, 4)):
        at = random.randrange(len(words))
        change = random.randrange(8)
        if change == 0:
            del words[at]
        elif change == 1:
            words.insert(at, words[at])
        elif change == 2:
            words[at] = random.choice(NUMBERS)
        elif change == 3:
            words[at] = random.choice(TOKENS)
        elif change == 4:
            words[at] = str(random.randint(-5, 40))
        elif change == 5:
            words = words[:at]
        elif change == 6:
            words[at] = "".join(random.choices("0123456789.+-er>·[]|\n ", k=random.randint(1, 12)))
        elif random.random() < 0.03:  # rarely, because it takes a while to read
            words[at] = random.choice(("0", "1", ".", "+", "-", "x", "r1", "0.", "\n", "9,", "1 ")) * 10**5
        words = words or [""]
    raw = " ".join(words).encode("utf-8", "surrogateescape")
    if random.random() < 0.1 and raw:
        at = random.randrange(len(raw))
        raw = raw[:at] + bytes([random.randrange(256)]) + raw[at + 1 :]
    return raw


def read(raw: bytes, problem: str | None) -> None:
    """What a reader is given, with the two files of a release planning set beside it."""
    path = Path("input-requirements.txt")
    path.write_bytes(raw)
    try:
        open_instance(str(path), problem)
    except SystolaError as error:
        str(error).encode("utf-8", "surrogateescape")


def try_text(random: Random, shop: Workshop) -> None:
    raw = mutate(random, random.choice(list(SEEDS.values())))
    read(raw, random.choice(PROBLEMS))


def _instance(random: Random) -> str:
    made = [
        f"knapsack:{_number(random)}-{_number(random)}",
        f"mmdp:{_number(random)}",
        f"nrp:{_number(random)}-{_number(random)}@{_number(random)}?weight={_number(random)}",
        f"gap:{random.choice('abcdefz')}-{_number(random)}x{_number(random)}",
        f"mkp:{_number(random)}x{_number(random)}?tightness={_number(random)}",
        f"qap:{random.choice(('uniform', 'opposed', 'x'))}-{_number(random)}",
        f"qap:grid-{_number(random)}x{_number(random)}",
        f"flowshop:{_number(random)}x{_number(random)}?objectives={random.choice(('makespan', 'flowtime', 'x,', ''))}",
        f"{random.choice(list(SEEDS))}#{_number(random)}",
        f"{random.choice(list(SEEDS))}?{random.choice(WORDS)}={_number(random)}",
    ]
    roll = random.random()
    if roll < 0.4:
        return random.choice(list(SEEDS))
    return random.choice(made) if roll < 0.8 else random.choice((*PATHS, *WORDS, "[red]name [x"))


def _number(random: Random) -> str:
    return str(random.randint(1, 8)) if random.random() < 0.6 else random.choice(NUMBERS)


def _path(random: Random, shop: Workshop) -> str:
    return random.choice(shop.files) if random.random() < 0.5 else random.choice(PATHS)


_ALGORITHMS = ("auto", "sgs-t", "sgs-e", "sgs-v", "sgs-b", "rs", "sga", "ega", "ga", "cellular", "ssga", "hill", "tabu")
_ALGORITHMS += ("ig", "pls", "memetic", "pugace", "sns-exp", "SGS", "nothing", "")
_KEYS = (
    "length",
    "width",
    "size",
    "crossover_probability",
    "mutation_plan",
    "flavour",
    "repair",
    "elite",
    "tenure",
    "name",
    "x",
    "",
)
_MIGRATION = (
    "rate",
    "export_every",
    "import_every",
    "export_probability",
    "send_slots",
    "pool",
    "synchronous",
    "delays",
    "demes",
)


def _value(random: Random) -> str:
    values = (*NUMBERS, *WORDS, "true", "[]", "[1, 2]", "[[1]]", "{a = 1}", '"x"', "1979-05-27", "[" * 5000, "''")
    return random.choice(values)


def solve_line(random: Random, shop: Workshop) -> list[str]:
    args = ["solve"]
    if random.random() < 0.95:
        args.append(_instance(random))
    options: list[Callable[[], list[str]]] = [
        lambda: ["--problem", random.choice(("knapsack", "qap", "gap", "x", ""))],
        lambda: ["--algorithm", random.choice(_ALGORITHMS)],
        lambda: ["--algorithm", random.choice(_ALGORITHMS)],
        lambda: ["--seed", _number(random)],
        lambda: ["--evaluations", _number(random)],
        lambda: ["--target", _number(random)],
        lambda: ["--stall", _number(random)],
        lambda: ["--threads", _number(random)],
        lambda: ["--config", _path(random, shop)],
        lambda: ["--set", f"{random.choice(_KEYS)}={_value(random)}"],
        lambda: ["--set", _value(random)],
        lambda: ["--islands", random.choice(("0", "1", "2", "3", "-1", "x", str(2**40)))],
        lambda: ["--migration", f"{random.choice(_MIGRATION)}={_value(random)}"],
        lambda: ["--record", random.choice((*PATHS, "written.json"))],
        lambda: ["--replay", _path(random, shop)],
        lambda: ["--print-config"],
        lambda: ["--checkpoint", random.choice((*PATHS, "written.checkpoint"))],
        lambda: ["--checkpoint-every", _number(random)],
        lambda: ["--resume", _path(random, shop)],
        lambda: ["--sweep", random.choice(("0", "1", "2", "-1", "x"))],
        lambda: ["--output", random.choice(("/dev/null", "/dev/full", "directory", "missing/x", "written.json"))],
        lambda: ["--json"],
        lambda: ["--quiet"],
        lambda: [random.choice(WORDS)],
    ]
    for option in random.sample(options, random.randint(0, 5)):
        args += option()
    return [*args, "--iterations", "1", "--seconds", "1", "--backend", random.choice(("python",) * 9 + ("cuda",))]


def other_line(random: Random, shop: Workshop) -> list[str]:
    spec, path = _instance(random), _path(random, shop)
    lines = [
        ["instances", "show", spec],
        ["instances", "show", "--json", spec, path],
        ["instances", "show", f"flowshop:ta{_number(random)}"],
        ["instances", "convert", spec, random.choice(("written.txt", "directory", "/dev/full", "missing/x"))],
        ["instances", "generate", random.choice(("--json", "x"))],
        ["draw", random.choice(("front", "attainment", "gantt", "convergence")), path, path, "--output", "drawn.svg"],
        ["draw", "gantt", "ig.json", "--instance", spec, "--output", "drawn.svg"],
        ["compare", spec, "--algorithms", "rs,sga", "--runs", random.choice(("1", "-1", "x", "0"))],
        ["compare", spec, "--algorithms", random.choice(("rs", "rs,rs", ",", "", "rs,x")), "--store", path],
        ["simulate", "--demes", random.choice(("4", "x", "0", "4,2", "-4", "")), "--rounds", "2", "--quiet"],
        ["simulate", "--demes", "4", "--rounds", random.choice(("0", "-1", "x")), "--spread", _number(random)],
        [
            "simulate",
            "--demes",
            "4",
            "--rounds",
            "2",
            "--latency",
            _number(random),
            "--seed",
            _number(random),
            "--quiet",
        ],
        [
            "reproduce",
            random.choice(("sgs", "sns", "pugace", "mls", "pgap", "x")),
            "--table",
            random.choice(("0", "99", "x")),
        ],
        ["reproduce", random.choice(("sns", "pugace")), "--table", "2", "--instances", random.choice(PATHS)],
        ["devices", random.choice(("--json", "--arch", "x"))],
        ["bench", "--repeat", random.choice(("0", "x", "-1"))],
        [random.choice(WORDS), path],
        [random.choice(("solve", "compare", "draw", "simulate", "instances", "bench")), "--help"],
    ]
    return random.choice(lines)


def try_options(random: Random, shop: Workshop) -> list[str]:
    return solve_line(random, shop) if random.random() < 0.7 else other_line(random, shop)


_TOML = ("3", "-1", "1.5", "nan", "inf", "true", '"x"', '""', "[]", "[1]", "[[]]", "{}", "{a = 1}", "[{}]", "[{a = 1}]")
_TOML += ("1979-05-27T07:32:00Z", "07:32:00", str(2**70), "[{algorithm = 3}]", '[{algorithm = "rs", parameters = 3}]')
_TOML += (
    '{rate = "x"}',
    "{delays = 5}",
    '{delays = ["x"]}',
    "{iterations = []}",
    '{size = "x"}',
    '"\\u0000"',
    "0x10",
    "1e400",
)
_TOML += ("{demes = 2, rate = 1, synchronous = 1}", '[{algorithm = "ssga", parameters = {size = "x"}}]')
_TABLES = (
    "instance",
    "problem",
    "algorithm",
    "seed",
    "backend",
    "threads",
    "stop",
    "parameters",
    "islands",
    "deme",
    "x",
)


def try_config(random: Random, shop: Workshop) -> list[str]:
    lines = ['instance = "single"', 'algorithm = "ssga"'] if random.random() < 0.9 else []
    for key in random.sample(_TABLES, random.randint(1, 3)):
        lines = [line for line in lines if not line.startswith(key)]
        lines.append(f"{key} = {random.choice(_TOML)}")
    if random.random() < 0.3:
        lines.append(f"[{random.choice(_TABLES)}]\n{random.choice((*_KEYS, *_MIGRATION))} = {random.choice(_TOML)}")
    if random.random() < 0.2:
        lines.append(f"[[deme]]\nalgorithm = {random.choice(_TOML)}\n[deme.parameters]\nsize = {random.choice(_TOML)}")
    raw = "\n".join(lines).encode()
    if random.random() < 0.1:
        at = random.randrange(len(raw))
        raw = raw[:at] + bytes([random.randrange(256)]) + raw[at + 1 :]
    Path("fuzzed.toml").write_bytes(raw)
    option = random.choice(([], [], [], ["--print-config"], ["--islands", "2"], ["--migration", "rate=1"]))
    return ["solve", "--config", "fuzzed.toml", *option, "--iterations", "1", "--backend", "python", "--quiet"]


_JSON = (None, True, False, 0, -1, 1, 3, 2**40, 2**63, 2**70, -(2**63), 0.5, 1e308, float("nan"), float("inf"))
_JSON += ("", "x", "\ud800", "[red]", [], [0], [[]], [[1, 2]], [None], {}, {"x": 1}, {"0": 1}, [2**63], [1.5], [{}])


def distort(random: Random, data: Any) -> Any:
    """Plain data with a value somewhere replaced, left out or doubled."""
    data = copy.deepcopy(data)
    here, steps = data, random.randint(0, 5)
    while isinstance(here, (dict, list)) and here:
        key = random.choice(list(here)) if isinstance(here, dict) else random.randrange(len(here))
        inside = here[key]
        if steps == 0 or not isinstance(inside, (dict, list)) or not inside:
            change = random.randrange(6)
            if change == 0:
                del here[key]
            elif change == 1 and isinstance(here, list):
                here.insert(key, inside)
            elif change == 2 and isinstance(inside, int) and not isinstance(inside, bool):
                here[key] = inside + random.choice((-1, 1, 2, 1000, -1000))
            else:
                here[key] = random.choice(_JSON)
            break
        here, steps = inside, steps - 1
    return data


def _damaged(random: Random, raw: bytes) -> bytes:
    at = random.randrange(len(raw))
    return random.choice((raw[:at], raw[:at] + b"\xff" + raw[at + 1 :], raw + b"x", b"\n" + raw, b"[" * 100_000 + raw))


def _array(random: Random, array: Any) -> Any:
    """Another array in the place of this one."""
    kinds = (np.int64, np.int32, np.uint64, np.uint8, np.float64, np.bool_, np.complex128, "S3", "U2", "datetime64[s]")
    change = random.randrange(9)
    if change == 0:
        return array.astype(np.float64).astype(random.choice(kinds))
    if change == 1:
        return array[:-1]
    if change == 2:
        return array.reshape(-1)
    if change == 3:
        return np.array(random.choice((0, -1, 2**62, 0.5)))
    if change == 4:
        return np.zeros((2,) * random.randint(0, 8), array.dtype)
    if change == 5 and array.ndim:
        return np.concatenate([array, array])
    array = array.copy()
    if array.size:
        limits = np.iinfo(array.dtype) if array.dtype.kind in "iu" else np.finfo(np.float64)
        value = random.choice((0, 1, limits.max, limits.min, limits.max // 2, array.size))
        if random.random() < 0.5:
            array.flat[random.randrange(array.size)] = value
        else:
            array[...] = value
    return array


def write_checkpoint(path: Path, state: Any, arrays: dict[str, Any], compressed: bool = False) -> None:
    """A checkpoint with a right digest, whatever is in it."""
    body = io.BytesIO()
    (np.savez_compressed if compressed else np.savez)(body, **arrays)
    sign(path, state, body.getvalue())


def sign(path: Path, state: Any, raw: bytes) -> None:
    told = json.dumps(state, sort_keys=True).encode()
    header = {"schema": SCHEMA, "digest": hashlib.sha256(told + b"\n" + raw).hexdigest(), "state": state}
    path.write_bytes(json.dumps(header).encode() + b"\n" + raw)


def parts_of(path: Path) -> tuple[Any, dict[str, Any]]:
    line, _, raw = path.read_bytes().partition(b"\n")
    with np.load(io.BytesIO(raw), allow_pickle=False) as arrays:
        return json.loads(line)["state"], {name: arrays[name] for name in arrays.files}


def _raw_archive(random: Random, arrays: dict[str, Any]) -> bytes:
    """An archive whose entries lie about themselves."""
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w", random.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as archive:
        for name, array in arrays.items():
            held = io.BytesIO()
            np.save(held, array)
            raw = held.getvalue()
            if random.random() < 0.3:
                shape = str(array.shape).encode()
                other = random.choice((b"(99999999999,)", b"(-1,)", b"()", b"('x',)", b"(1, 2, 3)", b"(" * 200))
                raw = raw.replace(b"'shape': " + shape, b"'shape': " + other)
            if random.random() < 0.1:
                raw = random.choice((b"", raw[:20], raw[:-3], raw + b"xyz", b"\x93NUMPY" + raw))
            archive.writestr(random.choice((f"{name}.npy",) * 9 + (name, "../x")), raw)
    return body.getvalue()


def try_checkpoint(random: Random, shop: Workshop) -> list[str]:
    if random.random() < 0.25:
        name, options, held = "demes", ISLANDS, sorted((shop.folder / "demes").rglob("*.checkpoint"))
        source = random.choice(held)
        target = shop.folder / "fuzzed" / source.relative_to(shop.folder / "demes")
        target.parent.mkdir(parents=True, exist_ok=True)
        for path in (shop.folder / "demes").rglob("*"):
            beside = shop.folder / "fuzzed" / path.relative_to(shop.folder / "demes")
            beside.mkdir(exist_ok=True) if path.is_dir() else beside.write_bytes(path.read_bytes())
        resumed = "fuzzed"
    else:
        name = random.choice(list(RUNS))
        options, source = RUNS[name], shop.folder / f"{name}.checkpoint"
        target = shop.folder / "fuzzed.checkpoint"
        resumed = "fuzzed.checkpoint"
    state, arrays = parts_of(source)
    change = random.randrange(10)
    if change < 4:
        key = random.choice(list(arrays))
        write_checkpoint(target, state, {**arrays, key: _array(random, arrays[key])}, random.random() < 0.1)
    elif change < 7:
        write_checkpoint(target, distort(random, state), arrays)
    elif change == 7:
        sign(target, state, _raw_archive(random, arrays))
    elif change == 8:
        target.write_bytes(_damaged(random, source.read_bytes()))
    else:
        key = random.choice(list(arrays))
        write_checkpoint(target, state, {k: v for k, v in arrays.items() if k != key})
    return [
        "solve",
        *options,
        "--resume",
        resumed,
        "--iterations",
        "35",
        "--seconds",
        "1",
        "--backend",
        "python",
        "--json",
    ]


def try_record(random: Random, shop: Workshop) -> list[str]:
    data = distort(random, shop.read_json("record.json"))
    last = data.get("last")
    if isinstance(last, dict):  # a record of a very long run is no wrong one
        data["last"] = {k: min(v, 1000) if isinstance(v, int) else v for k, v in last.items()}
    raw = json.dumps(data).encode()
    if random.random() < 0.1:
        raw = _damaged(random, raw)
    Path("fuzzed.json").write_bytes(raw)
    threads = random.choice(("1", "1", "2"))
    return ["solve", *ISLANDS, "--threads", threads, "--replay", "fuzzed.json", "--backend", "python", "--quiet"]


def try_result(random: Random, shop: Workshop) -> list[str]:
    kind, name = random.choice((("front", "pls"), ("attainment", "pls"), ("gantt", "ig"), ("convergence", "sgs")))
    raw = json.dumps(distort(random, shop.read_json(f"{name}.json"))).encode()
    if random.random() < 0.1:
        raw = _damaged(random, raw)
    Path("fuzzed.json").write_bytes(raw)
    instance = RUNS[name][0] if random.random() < 0.8 else _instance(random)
    return ["draw", kind, "fuzzed.json", "--instance", instance, "--output", "drawn.svg"]


# Inputs that a whole run makes of each; what gives a command line is called in process.
TARGETS: dict[str, tuple[int, Callable[[Random, Workshop], list[str] | None]]] = {
    "texts": (100_000, try_text),
    "options": (8_000, try_options),
    "configs": (4_000, try_config),
    "checkpoints": (4_000, try_checkpoint),
    "records": (2_000, try_record),
    "results": (2_000, try_result),
    "tables": (20_000, tables.try_table),
    "objects": (20_000, tables.objects(distort, _damaged)),
    "archives": (10_000, tables.archives(_array)),
    "own problems": (2_000, tables.try_own),
}


def attempt(target: str, number: int, shop: Workshop) -> str:
    """What is wrong with how an input ended; empty if nothing is."""
    args = TARGETS[target][1](Random(f"{target} {number}"), shop)
    if args is None:
        return ""
    code, out, err = call(args)
    # A checkpoint with a right digest and wrong numbers may lead to a wrong best solution, which the last check finds.
    return judge(args, 2 if target == "checkpoints" and code == 4 else code, out, err)


def judge(args: list[str], code: int, out: str, err: str) -> str:
    if "Traceback" in out + err:
        return f"{args}: a traceback: {err[-2000:]}"
    if code not in (0, 2, 3, 5):
        return f"{args}: ended with {code}: {err[-2000:]}"
    return f"{args}: ended with 2 and without a sentence" if code == 2 and not err.strip() else ""
