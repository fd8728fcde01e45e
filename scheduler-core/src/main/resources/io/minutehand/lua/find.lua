#!lua flags=no-writes,allow-oom
-- find: reads a job by id.
-- Transition: none (read).
-- KEYS:
--   1 hash      hash    the record hash of the job
--   2 ended     string  tombstone of the job
--   3 ledger    hash    settings epoch of the shard
-- ARGV:
--   1 member
-- Returns: RECORD nowUs record | ENDED nowUs state | NOT_FOUND nowUs epoch (as cancel)
-- Cost: O(1).
-- Replay: a read.
-- @include clock
local hash, ended, ledger = KEYS[1], KEYS[2], KEYS[3]
local member = ARGV[1]

local nowUs = clock()
local record = redis.call('HGET', hash, member)
if record then return { 'RECORD', nowUs, record } end
local tombstone = redis.call('GET', ended)
if tombstone then return { 'ENDED', nowUs, string.sub(tombstone, 1, 1) } end
return { 'NOT_FOUND', nowUs, redis.call('HGET', ledger, 'epoch') or '0' }
