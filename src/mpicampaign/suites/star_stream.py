"""Bandwidth of memory while all processes use it: HPCC and the kernel stream measure it alike."""

from __future__ import annotations

from mpicampaign.dimension import BANDWIDTH
from mpicampaign.suites.suite import ColumnMetric

STREAM = {
    "stream_copy_star": ColumnMetric("STREAM copy per process, all at once", BANDWIDTH),
    "stream_scale_star": ColumnMetric("STREAM scale per process, all at once", BANDWIDTH),
    "stream_add_star": ColumnMetric("STREAM add per process, all at once", BANDWIDTH),
    "stream_triad_star": ColumnMetric("STREAM triad per process, all at once", BANDWIDTH, headline=True),
}
