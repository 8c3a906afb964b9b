"""The part of a file that has arrived, and what is needed to ask for the rest of the same file."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Partial:
    """A file that grows beside its final place, with a note of which version of which address it is."""

    path: Path

    @property
    def note(self) -> Path:
        """Where the address and its version are written down."""
        return self.path.with_name(f"{self.path.name}.json")

    @property
    def n_bytes(self) -> int:
        """How much has arrived."""
        return self.path.stat().st_size if self.path.is_file() else 0

    def version(self, url: str) -> str | None:
        """What the server called this version of the file, if it is known and came from this address."""
        try:
            note = json.loads(self.note.read_text(encoding="utf-8"))
            return str(note["version"]) if note["url"] == url and note["version"] else None
        except (OSError, ValueError, LookupError, TypeError):
            return None

    def request_for_the_rest(self, url: str) -> dict[str, str]:
        """Headers that ask for what is missing, or for all if the file has changed; none where all must come."""
        version = self.version(url)
        # Without a version, the rest of another file would be taken for the rest of this one.
        return {"Range": f"bytes={self.n_bytes}-", "If-Range": version} if version and self.n_bytes else {}

    def begin(self, url: str, *, version: str | None) -> None:
        """Starts anew, as this version of this address."""
        self.discard()
        self.note.write_text(json.dumps({"url": url, "version": version}), encoding="utf-8")

    def discard(self) -> None:
        """Leaves nothing behind."""
        # The bytes go first: a note without bytes is harmless, bytes with a later note are not.
        self.path.unlink(missing_ok=True)
        self.note.unlink(missing_ok=True)


def version_of(headers: Mapping[str, str]) -> str | None:
    """What a server says to tell versions of a file apart byte by byte, if it does."""
    tag = headers.get("ETag", "")
    # A weak tag promises the same meaning only, not the same bytes.
    return tag if tag and not tag.startswith("W/") else headers.get("Last-Modified")
