#!lua flags=allow-oom
-- retire: forgets a shard that holds nothing any more.
-- Transition: none of a job's.
-- KEYS:
--   1 ledger    hash    counters and settings epoch of the shard
--   2 index     zset    minutes of the non-empty buckets
--   3 inflight  zset    receipts by deadline
--   4 dead      zset    dead letters
--   5-20 records hash   the 16 record hashes
-- ARGV: none
-- Returns: OK nowUs (gone) | BUSY nowUs (it holds jobs: left alone)
-- Cost: O(counters).
-- Replay: OK, nothing changes.
-- @include clock
local ledger, index, inflight, dead, records = KEYS[1], KEYS[2], KEYS[3], KEYS[4], 5

local nowUs = clock()
if redis.call('EXISTS', index, inflight, dead) > 0 then return { 'BUSY', nowUs } end
for hash = 0, 15 do
  if redis.call('EXISTS', KEYS[records + hash]) == 1 then return { 'BUSY', nowUs } end
end

redis.call('DEL', ledger)
return { 'OK', nowUs }
