"""Latency and bandwidth of rings and pairs: HPCC and the kernel latency_bandwidth measure them alike."""

from __future__ import annotations

from mpicampaign.dimension import BANDWIDTH, TIME
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
