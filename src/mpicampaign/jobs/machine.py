"""What planning asks of the machine that it runs on, and of the campaign's results there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from mpicampaign.schemes.unit import Results

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mpicampaign.base.identity import Declaration
    from mpicampaign.base.records import Case
    from mpicampaign.campaign.model import Benchmark, System
    from mpicampaign.jobs.local_mpi import LocalMpi
    from mpicampaign.jobs.software import Program


class PlanMachine(Results, Protocol):
    """The machine, and the results there."""

    def find_program(self, system: System, benchmark: Benchmark, /) -> Program: ...

    def find_mpi(self, system: System, /) -> LocalMpi: ...

    def evidence_library(self, system: System, /) -> str: ...

    def libraries(self, system: System, /) -> str: ...

    def physical_cores(self) -> int: ...

    def begun_as(self, case: Case, /) -> Mapping[str, Declaration]:
        """What the runs of a case were begun with before 0.2, by their identity now."""
