"""Every engine on every problem finds as GPU code what it found when digests.txt was written.

In a file of its own: files are what processes of tests share, and these take as long as all others of this folder.
"""

import pytest

from golden.cases import check, read_digests
from ptx.device import PtxDevice
from ptx.needs import needs_executor


@needs_executor
@pytest.mark.long
@pytest.mark.parity("P")
@pytest.mark.parametrize(("problem", "engine"), [pair for pair in read_digests() if not pair[1].startswith("islands")])
def test_all_as_executed_ptx(problem, engine):
    check(problem, engine, "cuda", device=PtxDevice(check=False))
