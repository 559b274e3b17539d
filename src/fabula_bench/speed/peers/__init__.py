"""Other systems under the same texts, questions and endpoint: `python -m fabula_bench.speed.peers`.

    run's folder -> each peer: its environment -> adapter process <-> counting proxy -> models
                 -> results.jsonl, run.json

Nothing of a peer is imported here: each runs as a program of its own, with its own Python.
"""
