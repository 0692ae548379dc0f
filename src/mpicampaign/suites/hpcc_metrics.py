"""What HPCC measures like the kernels latency_bandwidth (rings, pairs) and stream (memory that all use)."""

from __future__ import annotations

from mpicampaign.base.dimension import BANDWIDTH, TIME
from mpicampaign.suites.suite import ColumnMetric

RINGS = {
    "random_ring_latency": ColumnMetric("random ring latency", TIME, headline=True),
    "natural_ring_latency": ColumnMetric("natural ring latency", TIME),
    "ping_pong_latency": ColumnMetric("ping-pong latency, worst pair", TIME),
    "ping_pong_latency_average": ColumnMetric("ping-pong latency, mean of pairs", TIME),
    "ping_pong_latency_best": ColumnMetric("ping-pong latency, best pair", TIME),
    "random_ring_bandwidth": ColumnMetric("random ring bandwidth per process", BANDWIDTH, headline=True),
    "natural_ring_bandwidth": ColumnMetric("natural ring bandwidth per process", BANDWIDTH),
    "ping_pong_bandwidth": ColumnMetric("ping-pong bandwidth, worst pair", BANDWIDTH),
    "ping_pong_bandwidth_average": ColumnMetric("ping-pong bandwidth, mean of pairs", BANDWIDTH),
    "ping_pong_bandwidth_best": ColumnMetric("ping-pong bandwidth, best pair", BANDWIDTH),
}


STREAM = {
    "stream_copy_star": ColumnMetric("STREAM copy per process, all at once", BANDWIDTH),
    "stream_scale_star": ColumnMetric("STREAM scale per process, all at once", BANDWIDTH),
    "stream_add_star": ColumnMetric("STREAM add per process, all at once", BANDWIDTH),
    "stream_triad_star": ColumnMetric("STREAM triad per process, all at once", BANDWIDTH, headline=True),
}
