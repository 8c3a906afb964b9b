PRAGMA application_id = 1835233643;
PRAGMA user_version = 2;
BEGIN TRANSACTION;
CREATE TABLE choices (
        dataset TEXT NOT NULL,
        model TEXT NOT NULL,
        content TEXT NOT NULL,
        PRIMARY KEY (dataset, model)
    );
INSERT INTO "choices" VALUES('iris3','svc','{"dataset": "iris3", "model": "svc", "settings": {"C": 1.0, "widths": [3, 2]}, "metric": "auc", "score": 0.75, "search": "random:30", "n_settings": 30, "n_failed": 0, "task_ids": ["a"], "final_ids": ["c560c92039cce560", "af151e6f0d54a8c7"]}');
CREATE TABLE details (
        id TEXT PRIMARY KEY REFERENCES outcomes (id) ON DELETE CASCADE,
        content BLOB NOT NULL
    );
INSERT INTO "details" VALUES('c560c92039cce560',X'7801AB56CAC82C2EC92FAA54B252A856CAC92F2E0632A20DF44C75140CF48C4C636B7514949273128B8BE3F3127353C1924A894A40C198520383B464A5D85A00A7B013B6');
INSERT INTO "details" VALUES('403f8e2788f5611d',X'7801AB56CAC82C2EC92FAA54B252A856CAC92F2E0632A20DF44C75140CF48C4C636B7514949273128B8BE3F3127353C1924A894A40C198520383B464A5D85A00A7B013B6');
CREATE TABLE environments (id TEXT PRIMARY KEY, facts TEXT NOT NULL);
INSERT INTO "environments" VALUES('c97feb39c5b6','{"mcquack": "0.1.0", "python": "3.11.7"}');
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
    , numerics INTEGER);
INSERT INTO "outcomes" VALUES('c560c92039cce560','iris3','svc','final',0,'{"dataset": "iris3", "data_seed": 0, "table": null, "model": "svc", "settings": {"C": 1.0, "widths": [3, 2]}, "split": {"kind": "test"}, "seed": 0}','c97feb39c5b6','{"train": {"accuracy": 1.0}, "test": {"auc": 0.0}}','{"load": 0.25, "fit": 1.5, "score": 0.125}',12,'sha256:abc',NULL,'2026-01-02T03:04:05+00:00',NULL);
INSERT INTO "outcomes" VALUES('af151e6f0d54a8c7','iris3','svc','final',1,'{"dataset": "iris3", "data_seed": 0, "table": null, "model": "svc", "settings": {"C": 1.0, "widths": [3, 2]}, "split": {"kind": "test"}, "seed": 1}','c97feb39c5b6','{}','{"load": 0.25, "fit": 1.5, "score": 0.125}',NULL,'sha256:abc','Traceback (most recent call last):
  File "a.py", line 1, in <module>
ValueError: no','2026-01-02T03:04:05+00:00',NULL);
INSERT INTO "outcomes" VALUES('403f8e2788f5611d','iris3','mcquack','final',0,'{"dataset": "iris3", "data_seed": 0, "table": null, "model": "mcquack", "settings": {"C": 1.0, "widths": [3, 2]}, "split": {"kind": "test"}, "seed": 2, "numerics": 2}','c97feb39c5b6','{"train": {"accuracy": 1.0}, "test": {"auc": 2e-06}}','{"load": 0.25, "fit": 1.5, "score": 0.125}',12,'sha256:abc',NULL,'2026-01-02T03:04:05+00:00',2);
CREATE TABLE runs (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        command TEXT NOT NULL,
        suite TEXT NOT NULL,
        environment TEXT NOT NULL REFERENCES environments (id),
        started TEXT NOT NULL,
        ended TEXT,
        how TEXT CHECK (how IN ('done', 'interrupted', 'failed'))
    );
INSERT INTO "runs" VALUES(1,'mcquack bench run real-world','{"name": "real-world"}','c97feb39c5b6','2026-01-02T03:04:04+00:00','2026-01-02T03:04:06+00:00','done');
CREATE INDEX outcomes_by_phase ON outcomes (phase, failed, id);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('runs',1);
COMMIT;
