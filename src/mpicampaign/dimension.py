"""What metrics measure: their dimensions, and the units in which they are kept."""

from __future__ import annotations

Dimension = str

# What a metric measures. Times are s, bandwidths B/s, rates of messages and updates 1/s, rates of
# floating-point operations flop/s; the others are numbers.
TIME = "time"
DURATION = "duration"  # a time of seconds to hours
BANDWIDTH = "bandwidth"
MESSAGE_RATE = "message rate"
FRACTION = "fraction"
RATIO = "ratio"
SLOWDOWN = "slowdown"  # a ratio of times: lower is better
COUNT = "count"
FLOPS = "flop rate"
UPDATE_RATE = "update rate"  # of random places in memory

SI_UNITS = {TIME: "s", BANDWIDTH: "B/s", MESSAGE_RATE: "1/s", FRACTION: "1", RATIO: "1"}
SI_UNITS |= {SLOWDOWN: "1", COUNT: "1", FLOPS: "flop/s", UPDATE_RATE: "1/s", DURATION: "s"}
