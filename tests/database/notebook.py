"""A kind of file with nothing but what all kinds have."""

from mcquack.database import Database, FileKind, executing

NOTEBOOK = FileKind(
    application_id=0x74657374,
    migrations=(executing("CREATE TABLE notes (text TEXT NOT NULL)"),),
    synchronous="NORMAL",
    noun="notebook",
    maker="a test",
)


class Notebook(Database):
    """Texts, in the order in which they were added."""

    _kind = NOTEBOOK

    @classmethod
    def open(cls, path, *, write=False, create=False):
        return cls._opened(path, write=write, create=create)

    @classmethod
    def in_memory(cls):
        return cls._opened_in_memory()

    def add(self, *texts):
        with self._transaction() as connection:
            for text in texts:
                connection.execute("INSERT INTO notes VALUES (?)", [text])

    def texts(self):
        return [row["text"] for row in self._rows("SELECT text FROM notes ORDER BY rowid")]
