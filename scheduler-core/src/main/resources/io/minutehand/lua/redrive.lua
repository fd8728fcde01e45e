#!lua flags=allow-oom
-- redrive: gives a dead letter another life: first attempt, same id, same body unless another is given.
-- Transition: dead -> pending.
-- KEYS:
--   1 dead      zset    dead letters by time of death
--   2 bucket    zset    the bucket of the new due time
--   3 index     zset    minutes of the non-empty buckets
--   4 ledger    hash    counters
--   5 hash      hash    the record hash of the job
--   6 wakeChannel channel hint to the bucket's owner
-- ARGV:
--   1 member
--   2 diedAt    epoch ms: the death that the caller saw
--   3 due       epoch ms
--   4 minute    the bucket's minute, not later than that of max(due, now)
--   5 horizonMs ms, 0..
--   6 body      bytes; empty keeps the stored one
-- Returns: OK nowUs | NOT_FOUND nowUs (not dead, or of another death)
-- Cost: O(log(dead) + log(bucket)).
-- Replay: NOT_FOUND, nothing changes.
-- @include clock
-- @include record
-- @include wake
local dead, bucket, index, ledger, hash, wakeChannel = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local member, diedAt, due, minute, horizonMs = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4], tonumber(ARGV[5])
local body = ARGV[6]

local nowUs, now = clock()
local died = redis.call('ZSCORE', dead, member)
local record = redis.call('HGET', hash, member)
if not died or digits(tonumber(died)) ~= diedAt or not record or not readable(record) then
  return { 'NOT_FOUND', nowUs }
end
local first = firstDue(bucket)
local alive = changed(record, 'P', 1, 0, tonumber(minute), due, '')
if body ~= '' then alive = string.sub(alive, 1, 36) .. body end

redis.call('ZREM', dead, member)
redis.call('HSET', hash, member, alive)
redis.call('ZADD', bucket, digits(due), member)
redis.call('ZADD', index, minute, minute)
redis.call('HINCRBY', ledger, 'pending', 1)
redis.call('HINCRBY', ledger, 'redriven', 1)
if not first or due < first then wake(wakeChannel, minute, due, now, horizonMs) end
return { 'OK', nowUs }
