"""``python -m mcquack`` and the ``mcquack`` command; Ctrl-C is quiet also while they are still being loaded."""

import sys

_INTERRUPTED = 130  # as in mcquack.cli.console, which would have to be imported for it


def main() -> None:
    """Loads the command line and runs it; the entry point of the package."""
    try:
        from mcquack.cli.app import main as run  # not above: loading it takes long enough to be interrupted
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
    run()


if __name__ == "__main__":
    main()
