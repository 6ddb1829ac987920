"""`systola reproduce`: what it refuses. What it makes is tested with each paper, in `lab`."""

import pytest

from conftest import refused


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["sgs", "--threads", "2"], "--threads is for pugace and mls and pgap, but the paper is sgs"),
        (["sns", "--seconds", "2"], "--seconds is for pugace and pgap, but the paper is sns"),
        (["pugace"], "must hold bur26a.dat, chr12a.dat"),
        (["pugace", "--table", "3", "--instances", "nowhere"], "nowhere has no bur26a.dat"),
        (["sgs", "--part", "plans", "--backend", "cuda"], "--backend is for tables and figures, but plans is a study"),
        (["sns", "--part", "rows", "--workers", "2"], "--workers is for tables and figures, but rows is a study"),
        (["pugace", "--table", "4"], "Tables 1 to 3 can be reproduced, but got Table 4"),
        (["pugace", "--figure", "1"], "Tables 1 to 3 can be reproduced, but got Figure 1"),
        (["pugace", "--workers", "2"], "--workers is for sgs and sns, but the paper is pugace"),
        (["mls", "--table", "6"], "Tables 1 to 5 can be reproduced, but got Table 6"),
        (["mls", "--instances", "files"], "must hold 020_10_01.txt, 020_20_01.txt"),
        (["mls", "--workers", "2"], "--workers is for sgs and sns, but the paper is mls"),
        (["mls", "--seconds", "2"], "--seconds is for pugace and pgap, but the paper is mls"),
        (["mls", "--algorithms", "tabu"], "--algorithms is for sgs and sns, but the paper is mls"),
        (["pgap", "--table", "4"], "Tables 1 to 3 and Figures 5 to 12 can be reproduced, but got Table 4"),
        (["pgap", "--quick", "--full"], "two budgets"),
        (["pgap", "--workers", "2"], "--workers is for sgs and sns, but the paper is pgap"),
        (["pgap", "--instances", "nowhere"], "nowhere is none"),
        (["pgap", "--part", "strong", "--seconds", "0"], "`seconds > 0` must hold"),
    ],
)
def test_bad_commands(run_command, tmp_path, monkeypatch, args, message):
    monkeypatch.chdir(tmp_path)
    assert message in refused(run_command("reproduce", *args))
