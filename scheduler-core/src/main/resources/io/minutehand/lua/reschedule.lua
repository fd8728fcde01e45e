#!lua flags=allow-oom
-- reschedule: moves a job that still waits to another time.
-- Transition: pending -> pending elsewhere.
-- KEYS:
--   1 from      zset    the bucket in which the caller believes the job
--   2 to        zset    the bucket of the new due time
--   3 index     zset    minutes of the non-empty buckets
--   4 hash      hash    the record hash of the job
--   5 ended     string  tombstone of the job
--   6 wakeChannel channel hint to the bucket's owner
--   7 ledger    hash    settings epoch of the shard
-- ARGV:
--   1 member
--   2 fromMinute the minute of the bucket from, 0 = not known
--   3 due       epoch ms
--   4 toMinute  the minute of the bucket to, not later than that of max(due, now)
--   5 horizonMs ms, 0..
-- Returns (each with nowUs second):
--   MOVED                          it waits for the new time
--   RUNNING                        in flight: too late
--   ENDED state                    D done, X dead, C cancelled
--   ELSEWHERE minute               pending in another bucket: call again with it
--   NOT_FOUND epoch                as cancel
--   NEWER                          the record is of a newer version: left alone
-- Cost: O(log(buckets)).
-- Replay: MOVED (or ELSEWHERE with the new minute, then MOVED); nothing changes.
-- @include clock
-- @include record
-- @include wake
local from, to, index, hash, ended, wakeChannel, ledger = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7]
local member, fromMinute, due, toMinute, horizonMs = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4], tonumber(ARGV[5])

local nowUs, now = clock()
local record = redis.call('HGET', hash, member)
if not record then
  local tombstone = redis.call('GET', ended)
  if not tombstone then return { 'NOT_FOUND', nowUs, redis.call('HGET', ledger, 'epoch') or '0' } end
  return { 'ENDED', nowUs, string.sub(tombstone, 1, 1) }
end
if not readable(record) then return { 'NEWER', nowUs } end
local state = stateOf(record)
if state == 'I' then return { 'RUNNING', nowUs } end
if state == 'X' then return { 'ENDED', nowUs, state } end
local actual = digits(minuteOf(record))
if actual ~= fromMinute then return { 'ELSEWHERE', nowUs, actual } end
local moves = fromMinute ~= toMinute
local last = moves and redis.call('ZSCORE', from, member) and redis.call('ZCARD', from) == 1
local first = firstDue(to)

redis.call('HSET', hash, member,
  changed(record, 'P', attemptOf(record), deliveryOf(record), tonumber(toMinute), due, reasonOf(record)))
redis.call('ZADD', to, digits(due), member)
redis.call('ZADD', index, toMinute, toMinute)
if moves then redis.call('ZREM', from, member) end
if last then redis.call('ZREM', index, fromMinute) end
if not first or due < first then wake(wakeChannel, toMinute, due, now, horizonMs) end
return { 'MOVED', nowUs }
