"""``python -m mcquack`` does what the ``mcquack`` command does."""

from mcquack.cli.app import main

if __name__ == "__main__":
    main()
