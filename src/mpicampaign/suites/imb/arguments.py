"""The benchmarks and options of the Intel MPI Benchmarks 2017 to 2021.11, checked before a program starts.

IMB ignores an unknown option and measures with its defaults. It leaves out an unknown benchmark; IMB-P2P then
measures all. Of a number it reads what it can: ``-iter 1k`` is one iteration.

Source: the names that each suite declares (``src_cpp/*/*_suite.cpp``, ``*_benchmark.cpp``, ``src_c/P2P``) in
the tags v2018.0 to IMB-v2021.11, and ``IMB_init.c`` of 2018.0, which reads arguments as 2017 did.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mpicampaign.suites.command_line import (
    POSITIVE,
    WHOLE,
    Value,
    faulty_value,
    misspelt,
    one_of,
    unknown_option,
    unknown_program,
)
from mpicampaign.suites.suite import Refusal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

VERSIONS = "IMB 2017 to 2021.11"

COLLECTIVES = (
    *("allgather", "allgatherv", "allreduce", "alltoall", "alltoallv", "barrier", "bcast", "gather"),
    *("gatherv", "reduce", "reduce_scatter", "scatter", "scatterv"),
)
_FILES = ("Indv", "Expl", "Shared")
_MPI1 = (
    *("PingPong", "PingPongSpecificSource", "PingPongAnySource"),
    *("PingPing", "PingPingSpecificSource", "PingPingAnySource"),
    *("Sendrecv", "Exchange", "Uniband", "Biband", "Reduce_local", "Reduce_scatter_block"),
    *(name.capitalize() for name in COLLECTIVES),
)
_RMA = (
    *("Unidir_put", "Unidir_get", "Bidir_put", "Bidir_get", "Put_local", "Get_local", "Put_all_local"),
    *("Get_all_local", "One_put_all", "One_get_all", "All_put_all", "All_get_all", "Exchange_put"),
    *("Exchange_get", "Accumulate", "Get_accumulate", "Fetch_and_op", "Compare_and_swap"),
    "Truly_passive_put",
)
_MT = (
    *(
        "PingPongMT",
        "PingPingMT",
        "SendRecvMT",
        "ExchangeMT",
        "UniBandMT",
        "BiBandMT",
        "BarrierMT",
        "BcastMT",
    ),
    *("ReduceMT", "AllReduceMT", "ScatterMT", "ScattervMT", "ReduceScatterMT", "GatherMT", "GathervMT"),
    *("AllgatherMT", "AllgathervMT", "AlltoallMT", "AlltoallvMT", "PingPongMTSpecificSourceAnyTag"),
    *("PingPongMTAnySourceSpecificTag", "PingPongMTAnySourceAnyTag"),
)
BENCHMARKS: Mapping[str, tuple[str, ...]] = {
    "IMB-MPI1": _MPI1,
    "IMB-MPI1-GPU": _MPI1,
    "IMB-P2P": (
        *("PingPong", "PingPing", "Unirandom", "Birandom", "Corandom", "Stencil2D", "Stencil3D"),
        "SendRecv_Replace",
    ),
    "IMB-RMA": _RMA,
    "IMB-RMA-GPU": _RMA,
    "IMB-EXT": ("Window", "Unidir_Get", "Unidir_Put", "Bidir_Get", "Bidir_Put", "Accumulate"),
    "IMB-IO": (
        *(f"S_{how}_{what}" for how in ("Write", "IWrite", "Read", "IRead") for what in _FILES[:2]),
        *(f"P_{how}_{what}" for how in ("Write", "IWrite", "Read", "IRead") for what in (*_FILES, "Priv")),
        *(f"C_{how}_{what}" for how in ("Write", "IWrite", "Read", "IRead") for what in _FILES),
        "Open_Close",
    ),
    "IMB-NBC": (*(f"I{name}" for name in COLLECTIVES), *(f"I{name}_pure" for name in COLLECTIVES)),
    "IMB-MPI4": (
        *(f"{name.capitalize()}_persist" for name in COLLECTIVES),
        *(f"{name.capitalize()}_persist_pure" for name in COLLECTIVES),
    ),
    "IMB-MT": _MT,
}

_NUMBER = "-?(?:[0-9]{1,9}(?:\\.[0-9]{0,9})?|\\.[0-9]{1,9})(?:[eE]-?[0-9]{1,2})?"
_POLICY = "dynamic|auto|off|multiple_np"
_ITERATIONS = f"(?:[0-9]{{1,9}}|{_POLICY})"  # a policy among the numbers: up to 2018
_ON_OFF = Value("(?i:on|off|yes|no|true|false|enable|disable|1|0)", "on or off")
_TYPES = ("char", "int", "float", "double", "float16", "bfloat16")
_LOGS = Value("[0-9]|[12][0-9]|30|(?:[0-9]|[12][0-9]|30):(?:[0-9]|[12][0-9]|30)", "[MIN:]MAX, each up to 30")
_NAMES = Value(".+", "names of benchmarks, separated by commas")
_FILE = Value(".+", "the name of a file")
_MEMORY = one_of("device", "host", "shared", "cpu")

_SESSION: dict[str, Value | None] = {
    "-thread_level": one_of("single", "funneled", "serialized", "multiple", "nompinit", "nompiinit"),
    "-input": _FILE,
    "-include": _NAMES,
    "-exclude": _NAMES,
    "-dump": _FILE,
    "-load": _FILE,
    "-list": None,
    "-help": None,
}
_ALL: dict[str, Value | None] = {
    **_SESSION,
    "-npmin": POSITIVE,
    "-multi": Value("-1|0|1", "0 or 1"),
    "-off_cache": Value(f"{_NUMBER}(,{_NUMBER})?", "CACHE_MB[,LINE_B], or -1"),
    "-iter": Value(
        f"{_ITERATIONS}(,{_ITERATIONS}){{0,3}}", "ITERATIONS[,MB[,NOT_AGGREGATED]], such as 1000,40"
    ),
    "-iter_policy": Value(_POLICY, "dynamic, auto, multiple_np or off"),
    "-time": Value(_NUMBER, "a number of seconds"),
    "-mem": Value(_NUMBER, "a number of GB"),
    "-msglen": _FILE,
    "-map": Value("[0-9]{1,9}x[0-9]{1,9}", "PxQ, such as 2x4"),
    "-msglog": _LOGS,
    "-root_shift": _ON_OFF,
    "-sync": _ON_OFF,
    "-imb_barrier": _ON_OFF,
    "-warm_up": _ON_OFF,
    "-msg_pause": _ON_OFF,
    "-alignment": POSITIVE,
}
_SIZED: dict[str, Value | None] = {"-zero_size": _ON_OFF}
_AGGREGATE: dict[str, Value | None] = {"-aggregate_mode": one_of("aggregate", "non_aggregate", "multi")}
_OF_MPI1: dict[str, Value | None] = {
    **_ALL,
    **_SIZED,
    "-window_size": POSITIVE,
    "-msgsize": Value("[0-9]{1,10}(,[0-9]{1,10})*", "sizes in bytes, separated by commas"),
    "-data_type": one_of("byte", *_TYPES),
    "-red_data_type": one_of(*_TYPES),
    "-contig_type": one_of("base", "base_vec", "resize", "resize_vec"),
    "-mem_alloc_type": _MEMORY,
}
_OF_RMA = {**_ALL, **_AGGREGATE, "-mem_alloc_type": _MEMORY}
OPTIONS: Mapping[str, Mapping[str, Value | None]] = {
    "IMB-MPI1": _OF_MPI1,
    "IMB-MPI1-GPU": _OF_MPI1,
    "IMB-P2P": {
        "-iter": Value("[0-9]{1,9}(,[0-9]{1,12})?", "ITERATIONS[,NUMERATOR]"),
        "-msglen": _FILE,
        "-msglog": _LOGS,
        "-msgsz": Value("[0-9]{1,9}[kKmMgG]?", "a size such as 64, 8k or 1M"),
        "-msgrd": _ON_OFF,
        "-msgwr": _ON_OFF,
        "-pause": WHOLE,
        **dict.fromkeys(("-help", "-h", "-list", "-l")),
    },
    "IMB-RMA": _OF_RMA,
    "IMB-RMA-GPU": _OF_RMA,
    "IMB-EXT": {**_ALL, **_AGGREGATE},
    "IMB-IO": {**_ALL, **_AGGREGATE},
    "IMB-NBC": {**_ALL, **_SIZED},
    "IMB-MPI4": {**_ALL, **_SIZED, "-mem_alloc_type": _MEMORY},
    "IMB-MT": {
        **_SESSION,
        **dict.fromkeys(("-stride", "-warmup", "-malloc_align"), WHOLE),
        **dict.fromkeys(("-repeat", "-window_size"), POSITIVE),
        "-barrier": one_of("on", "off", "special"),
        "-count": Value("[0-9]{1,9}(,[0-9]{1,9})*", "numbers of elements, separated by commas"),
        "-malloc_algo": one_of("serial", "continuous", "parallel"),
        "-check": _ON_OFF,
        "-datatype": one_of("int", "char"),
        "-noheader": None,
    },
}
_CHOOSE = ("-input", "-include", "-load", "-help", "-h", "-list", "-l")
_PRINTS_NO_TABLE = ("-help", "-h", "-list", "-l")


def faults(program: str, arguments: Sequence[str]) -> Iterator[Refusal]:
    """What is wrong with the name of a program and with its arguments."""
    name = program.rsplit("/", 1)[-1]
    if name not in BENCHMARKS:
        yield unknown_program(name, BENCHMARKS, VERSIONS)
        return
    waiting, names_none = list(arguments), True
    while waiting:
        given = waiting.pop(0)
        option = given.lower() if name == "IMB-P2P" else given
        if option in OPTIONS[name]:
            expected = OPTIONS[name][option]
            value = waiting.pop(0) if expected and waiting and waiting[0] not in OPTIONS[name] else None
            yield from _option(name, option, expected, value)
            names_none &= option not in _CHOOSE
        elif given.startswith("-"):
            yield _unknown_option(name, given)
            names_none = False
            if waiting and not waiting[0].startswith("-") and any(_benchmarks(name, waiting[0])):
                waiting.pop(0)  # its value, as it seems
        else:
            yield from _benchmarks(name, given)
            names_none = False
    if names_none:
        yield Refusal(f"no benchmark is named: {name} measures all of its own choice", doubtful=True)


def _option(program: str, option: str, expected: Value | None, value: str | None) -> Iterator[Refusal]:
    if option in _PRINTS_NO_TABLE:
        yield Refusal(f"with this option {program} prints no table", "", option)
    if expected is None:
        return
    wrong = list(faulty_value(option, expected, value))
    yield from wrong
    if value is None or wrong:
        return
    if option in ("-include", "-exclude"):
        yield from _benchmarks(program, value)
    if option == "-msglog" and ":" in value:
        low, high = map(int, value.split(":"))
        if low > high:
            message, hint = "the smallest size is above the largest", f"give -msglog {high}:{low}"
            yield Refusal(message, "", f"{option} {value}", hint)


def _unknown_option(program: str, given: str) -> Refusal:
    option, equals, value = given.partition("=")
    if equals and option in OPTIONS[program]:
        return Refusal(f"{program} does not read values after =", "", given, f"give {option} {value}")
    return unknown_option(program, given, OPTIONS[program], VERSIONS)


def _benchmarks(program: str, text: str) -> Iterator[Refusal]:
    """IMB compares the names of benchmarks without regard to case."""
    if program == "IMB-P2P" and "," in text:
        message = "IMB-P2P reads no list: each benchmark is an argument of its own"
        yield Refusal(message, "", text, f"give {text.replace(',', ' ')}")
        return
    known = {name.lower(): name for name in BENCHMARKS[program]}
    for name in text.split(","):
        if name.lower() not in known:
            yield _unknown_benchmark(program, name, known)


def _unknown_benchmark(program: str, name: str, known: Mapping[str, str]) -> Refusal:
    others = [
        each
        for each, names in BENCHMARKS.items()
        if name.lower() in map(str.lower, names) and not each.endswith("-GPU")
    ]
    meant = known.get(misspelt(name.lower(), known), "")
    if meant or others:
        hint = f"did you mean {meant!r}?" if meant else f"it is one of {' and '.join(others)}"
        return Refusal(f"{program} has no such benchmark", "", name, hint)
    message = f"no benchmark {name!r} of {program} in {VERSIONS}: this program may leave it out"
    return Refusal(message, doubtful=True)
