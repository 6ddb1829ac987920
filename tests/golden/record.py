"""Write digests.txt anew: `python tests/golden/record.py`, or only what is missing in it, with `--missing`.

With `--interpreted` nothing is compiled but what takes too long without; the digests are the same.

A changed digest needs a reason in the commit message.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from golden.cases import DIGESTS, digest_of, engines, pairs, problems, run

HEAD = """# problem, engine, digest of the run's numbers (tests/golden/cases.py); the same on every backend
"""


def main() -> None:
    made, built = problems(), engines()
    known = DIGESTS.read_text().splitlines(keepends=True) if "--missing" in sys.argv else []
    lines: list[str] = []
    for problem, engine in pairs():
        there = [line for line in known if line.startswith(f"{problem} {engine} ")]
        if there:
            lines += there
            continue
        backend = "python" if "--interpreted" in sys.argv and engine not in ("auto", "memetic") else "cpu"
        result = run(made[problem], built[engine], engine, backend)
        lines.append(f"{problem} {engine} {digest_of(result)}\n")
        print(lines[-1], end="", flush=True)
    DIGESTS.write_text(HEAD + "".join(lines))


if __name__ == "__main__":
    main()
