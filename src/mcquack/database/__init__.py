"""Files that keep what was paid for with time or money, and survive whatever happens to their writer."""

from mcquack.database.database import Database
from mcquack.database.kind import FileKind, Meaning, Migration, executing

__all__ = ["Database", "FileKind", "Meaning", "Migration", "executing"]
