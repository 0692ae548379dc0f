"""What a profile with ``executor: campaign`` meets: the line to remove. Goes with the next release."""

from __future__ import annotations

from typing import NoReturn

from snakemake_interface_common.exceptions import WorkflowError
from snakemake_interface_executor_plugins.executors.real import RealExecutor
from snakemake_interface_executor_plugins.settings import CommonSettings

MESSAGE = (
    "remove the line 'executor: campaign' from your profile, or --executor campaign from the call: "
    "the workflow submits its jobs itself, and needs no executor"
)

common_settings = CommonSettings(non_local_exec=True, implies_no_shared_fs=False, job_deploy_sources=False)


class Executor(RealExecutor):  # type: ignore[misc]
    """Refuses to start."""

    def __new__(cls, *_: object, **__: object) -> NoReturn:
        raise WorkflowError(MESSAGE)
