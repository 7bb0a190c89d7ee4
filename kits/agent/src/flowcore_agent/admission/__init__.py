"""Admission: what is looked at before there is a run, each step a function that only looks."""
