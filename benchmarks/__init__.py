"""Benchmarks: what flowcore costs beside a bare loop, in one run on one machine."""
