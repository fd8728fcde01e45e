#!lua flags=allow-oom
-- purge: forgets a dead letter.
-- Transition: dead -> gone.
-- KEYS:
--   1 dead      zset    dead letters by time of death
--   2 ledger    hash    counters
--   3 hash      hash    the record hash of the job
-- ARGV:
--   1 member
--   2 diedAt    epoch ms: the death that the caller saw
-- Returns: OK nowUs | NOT_FOUND nowUs (not dead, or of another death)
-- Cost: O(log(dead)).
-- Replay: NOT_FOUND, nothing changes.
-- @include clock
local dead, ledger, hash = KEYS[1], KEYS[2], KEYS[3]
local member, diedAt = ARGV[1], ARGV[2]

local nowUs = clock()
local died = redis.call('ZSCORE', dead, member)
if not died or digits(tonumber(died)) ~= diedAt then return { 'NOT_FOUND', nowUs } end

redis.call('ZREM', dead, member)
redis.call('HDEL', hash, member)
redis.call('HINCRBY', ledger, 'purged', 1)
return { 'OK', nowUs }
