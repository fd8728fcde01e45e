#!lua flags=allow-oom
-- cancel: ends a job that still waits.
-- Transition: pending -> cancelled.
-- KEYS:
--   1 bucket    zset    the bucket in which the caller believes the job
--   2 index     zset    minutes of the non-empty buckets
--   3 ledger    hash    counters and settings epoch of the shard
--   4 hash      hash    the record hash of the job
--   5 ended     string  tombstone of the job
-- ARGV:
--   1 member
--   2 minute    the minute of that bucket, 0 = not known
--   3 retentionMs ms that the tombstone stays, 0 = none
-- Returns (each with nowUs second):
--   CANCELLED                      cancelled now, or earlier
--   RUNNING                        in flight: too late
--   ENDED state                    D done, X dead
--   ELSEWHERE minute               pending in another bucket: call again with it
--   NOT_FOUND epoch                no such job here, or its tombstone has gone; the shard's settings epoch, 0 = none: where it is another
--     than the caller's, the job may have another home by now
--   NEWER                          the record is of a newer version: left alone
-- Cost: O(log(bucket)).
-- Replay: CANCELLED again while the tombstone stays, then NOT_FOUND.
-- @include clock
-- @include record
local bucket, index, ledger, hash, ended = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local member, minute, retentionMs = ARGV[1], ARGV[2], tonumber(ARGV[3])

local nowUs = clock()
local record = redis.call('HGET', hash, member)
if not record then
  local tombstone = redis.call('GET', ended)
  if not tombstone then return { 'NOT_FOUND', nowUs, redis.call('HGET', ledger, 'epoch') or '0' } end
  local state = string.sub(tombstone, 1, 1)
  if state == 'C' then return { 'CANCELLED', nowUs } end
  return { 'ENDED', nowUs, state }
end
if not readable(record) then return { 'NEWER', nowUs } end
local state = stateOf(record)
if state == 'I' then return { 'RUNNING', nowUs } end
if state == 'X' then return { 'ENDED', nowUs, state } end
local actual = digits(minuteOf(record))
if actual ~= minute then return { 'ELSEWHERE', nowUs, actual } end
local last = redis.call('ZSCORE', bucket, member) and redis.call('ZCARD', bucket) == 1

redis.call('HDEL', hash, member)
redis.call('ZREM', bucket, member)
if last then redis.call('ZREM', index, minute) end
redis.call('HINCRBY', ledger, 'pending', -1)
redis.call('HINCRBY', ledger, 'cancelled', 1)
if retentionMs > 0 then redis.call('SET', ended, 'C' .. digestOf(record), 'PX', ARGV[3]) end
return { 'CANCELLED', nowUs }
