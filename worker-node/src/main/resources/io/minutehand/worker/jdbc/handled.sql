-- Jobs whose effect is in this database. A row is written in the transaction of the effect.
CREATE TABLE IF NOT EXISTS minutehand_handled (
    topic      varchar(64)              NOT NULL,
    job_id     varchar(128)             NOT NULL,
    handled_at timestamp with time zone NOT NULL DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (topic, job_id)
);
CREATE INDEX IF NOT EXISTS minutehand_handled_at ON minutehand_handled (handled_at);
