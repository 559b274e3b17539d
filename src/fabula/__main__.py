"""`python -m fabula` is `fabula`."""

from fabula.cli import run

if __name__ == "__main__":
    run()
