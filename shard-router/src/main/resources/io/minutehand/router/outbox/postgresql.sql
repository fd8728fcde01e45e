-- Jobs that transactions have committed and that are not in Redis yet. A row is deleted once its job is stored there.
-- Written for PostgreSQL 12 or later. Elsewhere: bytea is BLOB or VARBINARY, and the index has no WHERE.
CREATE TABLE IF NOT EXISTS minutehand_outbox (
    row_id      varchar(32)  NOT NULL PRIMARY KEY, -- random, made by the writer
    topic       varchar(64)  NOT NULL,
    job_id      varchar(128) NOT NULL,
    business_id varchar(256),
    due_at_ms   bigint       NOT NULL,             -- epoch milliseconds
    headers     text         NOT NULL,             -- a JSON object of strings
    payload     bytea        NOT NULL,
    set_aside   varchar(500)                       -- why it cannot be scheduled; NULL while it is to be
);
CREATE INDEX IF NOT EXISTS minutehand_outbox_due ON minutehand_outbox (due_at_ms, row_id) WHERE set_aside IS NULL;
