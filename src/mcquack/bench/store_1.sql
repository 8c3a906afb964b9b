CREATE TABLE environments (id TEXT PRIMARY KEY, facts TEXT NOT NULL);

-- What filters and counts has a column, and the rest of a task is in its JSON, the one place it is read from.
CREATE TABLE outcomes (
    id TEXT PRIMARY KEY,
    dataset TEXT NOT NULL,
    model TEXT NOT NULL,
    phase TEXT NOT NULL CHECK (phase IN ('search', 'final')),
    failed INTEGER NOT NULL CHECK (failed = (error IS NOT NULL)),
    task TEXT NOT NULL,
    environment TEXT NOT NULL REFERENCES environments (id),
    scores TEXT NOT NULL,
    seconds TEXT NOT NULL,
    n_parameters INTEGER,
    fingerprint TEXT NOT NULL,
    error TEXT,
    finished_at TEXT NOT NULL
);

-- Counting and listing ids read this index alone.
CREATE INDEX outcomes_by_phase ON outcomes (phase, failed, id);

-- Apart, so that whoever reads scores only does not pass over curves and kernels.
CREATE TABLE details (
    id TEXT PRIMARY KEY REFERENCES outcomes (id) ON DELETE CASCADE,
    content BLOB NOT NULL
);

CREATE TABLE choices (
    dataset TEXT NOT NULL,
    model TEXT NOT NULL,
    content TEXT NOT NULL,
    PRIMARY KEY (dataset, model)
);

CREATE TABLE runs (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    command TEXT NOT NULL,
    suite TEXT NOT NULL,
    environment TEXT NOT NULL REFERENCES environments (id),
    started TEXT NOT NULL,
    ended TEXT,
    how TEXT CHECK (how IN ('done', 'interrupted', 'failed'))
);
