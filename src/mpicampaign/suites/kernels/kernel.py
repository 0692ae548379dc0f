"""What is known of a bundled kernel beside its C source; options are checked as in kernels/common/options.c."""

from __future__ import annotations
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from mpicampaign.errors import did_you_mean
from mpicampaign.suites.command_line import Value, faulty_value, unknown_option, unknown_program
from mpicampaign.suites.suite import Refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mpicampaign.suites.command_line import Value
    from mpicampaign.suites.kernels.frame import Layout
    from mpicampaign.suites.suite import Sends, ColumnMetric
    from collections.abc import Iterator, Mapping, Sequence

    from mpicampaign.registry import Registry

@dataclass(frozen=True, kw_only=True)
class Kernel:
    """A bundled kernel.

    ``layout``: its rows, and how they become series. ``version``: raised by hand when it measures in another
    way, with a line of history in docs/formats.md. ``sends``: who sends to whom, by the names of its series.
    ``metrics``: its own, by column. ``published``: the published benchmark of the same definition.
    ``options``: those that not every kernel has, by name, and None for a flag; without them (None) arguments
    are not checked. ``sweeps``: whether it has those of
    a sweep of sizes. ``quick``: arguments of a short run, for tests. ``ranks_minimum``: with fewer ranks it does not run.
    """

    name: str
    layout: Callable[[], Layout]
    version: int = 1
    sends: Mapping[str, Sends] = field(default_factory=dict)
    metrics: Mapping[str, ColumnMetric] = field(default_factory=dict)
    published: str = ""
    options: Mapping[str, Value | None] | None = None
    sweeps: bool = False
    quick: tuple[str, ...] = ("--budget", "0.5")
    ranks_minimum: int = 2


_TREES = "max-inter|min-inter|natural|random|tuned"
SIZE = Value("[0-9]{1,18}(?:B|KiB|MiB|GiB)?", "a number of bytes such as 0, 1000, 64KiB or 4MiB")
TREES: Mapping[str, Value | None] = {
    "--tree": Value(f"all|(?:{_TREES})(?:,(?:{_TREES}))*", "max-inter, min-inter, natural, random, tuned or all"),
    "--no-baseline": None,
}
_SWEEP: Mapping[str, Value | None] = dict.fromkeys(("--min-size", "--max-size", "--size"), SIZE)
_COMMON: Mapping[str, Value | None] = {
    "--budget": Value("[0-9]{0,9}[.]?[0-9]{1,9}(?:[eE]-?[0-9]{1,2})?", "a number of seconds, at most 86400"),
    "--seed": Value("[0-9]{1,20}", "a whole number"),
    "--help": None,
}


def options_of(kernel: Kernel) -> Mapping[str, Value | None]:
    """All options of a kernel; empty where they are unknown."""
    if kernel.options is None:
        return {}
    return {**kernel.options, **(_SWEEP if kernel.sweeps else {}), **_COMMON}


def faults(kernels: Registry[Kernel], program: str, arguments: Sequence[str]) -> Iterator[Refusal]:
    """What is wrong with the name of a kernel and with its arguments."""
    name = program.rsplit("/", 1)[-1]
    if name not in kernels:
        yield unknown_program(name, tuple(kernels), "the bundled kernels")
        return
    options = options_of(kernels[name])
    waiting = list(arguments if options else ())
    while waiting:
        option = waiting.pop(0)
        if option not in options:
            if option.partition(" ")[0] in options:
                yield unknown_option(f"kernel {name}", option, options, "")
                continue
            hint = did_you_mean(option, options) if option.startswith("-") else f"its options: {', '.join(options)}"
            yield Refusal(f"kernel {name} has no such option", "", option, hint)
            if waiting and not waiting[0].startswith("-"):
                waiting.pop(0)  # its value, as it seems
        elif option == "--help":
            yield Refusal(f"with this option kernel {name} prints no table", "", option)
        elif (expected := options[option]) is not None:
            value = waiting.pop(0) if waiting and waiting[0] not in options else None
            yield from faulty_value(option, expected, value)
