"""The sides that are compared. Each file does the same work with other means; one that is missing is not compared.

A side offers functions by the names of the workloads. `chain(size)` prepares the work and returns an async
function that does it once and returns a number, which is checked. `VERSIONS` names what the side runs on.
"""
