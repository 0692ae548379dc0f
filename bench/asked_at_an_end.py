"""CPU time (ms) of asking what follows from the end of a run, of 200 runs of a campaign: one a line."""

import sys
import time
from pathlib import Path

from mpicampaign.run.conditions import prepare_with_results


def main() -> None:
    prepared = prepare_with_results(Path(sys.argv[1]))
    runs = prepared.pending
    tried = {run.identity for run in runs}
    for run in runs[:200]:
        begin = time.process_time()
        prepared.due_beside(run, tried)
        print(1000 * (time.process_time() - begin))


if __name__ == "__main__":
    main()
