"""``python -m mpicampaign.cli``."""

import sys

from mpicampaign.cli import main

sys.exit(main())
