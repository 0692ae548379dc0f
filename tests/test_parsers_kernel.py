from __future__ import annotations

import pytest

from mpicampaign.suites import OutputError, parse

HEADER = """\
#mpicampaign-kernel 1
#@kernel=tree_merge
#@version=0.1.0
#@ranks=4
#@hosts=node1:2,node2:2
#@columns.samples=operation tree size sample block_messages seconds useful_bytes wire_bytes
#@columns.levels=operation tree size rank level receive_seconds merge_seconds bytes
#@columns.sizes=operation tree size samples warmup_samples converged verified
"""
ROWS = """\
samples MPI_Gather - 1024 0 8 2.5e-06 3072 3072
samples MPI_Gather - 1024 1 8 3.5e-06 3072 3072
sizes MPI_Gather - 1024 2 1 1 1
samples tree_merge max-inter 1024 0 8 4e-06 3072 4096
samples tree_merge max-inter 1024 1 8 6e-06 3072 4096
samples tree_merge max-inter 1024 2 8 5e-06 3072 4096
samples tree_merge max-inter 2048 0 8 1e-05 6144 8192
levels tree_merge max-inter 1024 0 0 1e-06 2e-06 1024
levels tree_merge max-inter 1024 0 1 2e-06 3e-06 2048
levels tree_merge max-inter 1024 2 0 1.5e-06 1e-06 1024
sizes tree_merge max-inter 1024 200 5 0 1
sizes tree_merge max-inter 2048 1 5 1 1
samples tree_merge natural 1024 0 8 4e-06 3072 3072
sizes tree_merge natural 1024 1 5 1 1
"""
COUNT = len(ROWS.splitlines())


def output(rows: str = ROWS, end: str = f"#@end rows={COUNT} status=ok\n") -> str:
    return HEADER + rows + end


def change(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new, 1)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (f"#@end rows={COUNT} status=ok\n", "", "ends after 14 rows; the closing line is missing"),
        ("rows=14", "rows=15", "14 rows, but the closing line counts 15"),
        ("status=ok", "status=failed", "the kernel reports status 'failed'"),
        ("status=ok", "status=okay", "the kernel reports status 'okay'"),
        ("#mpicampaign-kernel 1", "#mpicampaign-kernel 2", "format version '2'; this program reads 1"),
        ("#mpicampaign-kernel 1", "", "the first line of a kernel's output is missing"),
        ("4e-06 3072 4096", "nan 3072 4096", "seconds is 'nan', not a number"),
        ("4e-06 3072 4096", "-4e-06 3072 4096", "seconds is '-4e-06', not a number"),
        ("4e-06 3072 4096", "4e999 3072 4096", "seconds is '4e999', not a number"),
        ("4e-06 3072 4096", "0 3072 4096", "took no time at all"),
        ("4e-06 3072 4096", "4e-06 3072", "row has 7 columns, the header names 8"),
        ("4e-06 3072 4096", "4e-06 3073 4096", "useful_bytes differs between samples"),
        ("sizes MPI_Gather - 1024 2 1 1 1", "sizes MPI_Gather - 1024 2 1 1 0", "the data was not verified"),
        ("sizes MPI_Gather - 1024 2 1 1 1", "sizes MPI_Gather - 1024 1 1 1 1", "2 samples of 1"),
        ("sizes MPI_Gather - 1024", "sizes MPI_Gather - 4096", "MPI_Gather - [0-9]+ B: "),
        ("#@ranks=4", "#@ranks=many", "number of ranks is 'many'"),
        ("#@ranks=4", "#@ranks=4\n#@ranks=4", "ranks a second time"),
        ("#@version", "#@ver sion", "is not a valid header line"),
        ("columns.levels=operation tree", "columns.levels=operation", "rows of levels lack the columns tree"),
        ("columns.levels", "columns.leaves", "unknown kind of row 'leaves'"),
        ("#@columns.sizes=", "#sizes=", "row of sizes before the line that names its columns"),
        ("samples tree_merge", "samples\0tree_merge", "NUL byte"),
    ],
)
def test_damage_is_refused_with_a_reason(old: str, new: str, reason: str) -> None:
    text = change(output(), old, new)
    with pytest.raises(OutputError, match=reason):
        parse("kernel", text)


def test_two_outputs_in_one_file() -> None:
    with pytest.raises(OutputError, match="two outputs in one file"):
        parse("kernel", output() + output())
    with pytest.raises(OutputError, match="row after the closing line"):
        parse("kernel", output() + ROWS)


def test_an_output_without_rows_is_not_a_result() -> None:
    with pytest.raises(OutputError, match="counts no rows: nothing was measured"):
        parse("kernel", output("", "#@end rows=0 status=ok\n"))
