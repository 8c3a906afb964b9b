-- The tables of a ledger. Measurements hold their circuits, so that what is missing can be sent without whoever asked.
CREATE TABLE measurements (
    id TEXT PRIMARY KEY,
    label TEXT NOT NULL,
    service TEXT NOT NULL,
    shots INTEGER NOT NULL CHECK (shots >= 1),
    n_samples INTEGER NOT NULL,
    n_centroids INTEGER NOT NULL,
    n_layers INTEGER NOT NULL,
    n_qubits INTEGER NOT NULL,
    samples BLOB NOT NULL,
    centroids BLOB NOT NULL,
    digest TEXT NOT NULL,
    created_at TEXT NOT NULL
);

-- The bits are here and not with a job: however often a part is sent, its circuits have one result.
CREATE TABLE parts (
    measurement TEXT NOT NULL REFERENCES measurements (id),
    first INTEGER NOT NULL CHECK (first >= 0),
    last INTEGER NOT NULL CHECK (last > first),
    bits BLOB,
    PRIMARY KEY (measurement, first)
);

CREATE TABLE jobs (
    tag TEXT PRIMARY KEY,
    measurement TEXT NOT NULL,
    first INTEGER NOT NULL,
    attempt INTEGER NOT NULL CHECK (attempt >= 1),
    job_id TEXT,
    state TEXT NOT NULL
        CHECK (state IN ('noted', 'queued', 'running', 'done', 'failed', 'cancelled', 'lost')),
    message TEXT NOT NULL,
    noted_at TEXT NOT NULL,
    submitted_at TEXT,
    ended_at TEXT,
    UNIQUE (measurement, first, attempt),
    FOREIGN KEY (measurement, first) REFERENCES parts (measurement, first),
    CHECK (job_id IS NOT NULL OR state NOT IN ('queued', 'running', 'done'))
);
