"""Latency and bandwidth of rings and pairs: HPCC and the kernel latency_bandwidth measure them alike."""

from __future__ import annotations

from mpicampaign.dimension import BANDWIDTH, TIME
from mpicampaign.suites.suite import SingleMetric

RINGS = {
    "random_ring_latency": SingleMetric("random ring latency", TIME, headline=True),
    "natural_ring_latency": SingleMetric("natural ring latency", TIME),
    "ping_pong_latency": SingleMetric("ping-pong latency, worst pair", TIME),
    "ping_pong_latency_average": SingleMetric("ping-pong latency, mean of pairs", TIME),
    "ping_pong_latency_best": SingleMetric("ping-pong latency, best pair", TIME),
    "random_ring_bandwidth": SingleMetric("random ring bandwidth per process", BANDWIDTH, headline=True),
    "natural_ring_bandwidth": SingleMetric("natural ring bandwidth per process", BANDWIDTH),
    "ping_pong_bandwidth": SingleMetric("ping-pong bandwidth, worst pair", BANDWIDTH),
    "ping_pong_bandwidth_average": SingleMetric("ping-pong bandwidth, mean of pairs", BANDWIDTH),
    "ping_pong_bandwidth_best": SingleMetric("ping-pong bandwidth, best pair", BANDWIDTH),
}
