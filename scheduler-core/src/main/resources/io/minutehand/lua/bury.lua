#!lua flags=allow-oom
-- bury: ends a job as a dead letter, and drops dead letters beyond the topic's limits.
-- Transition: in flight -> dead.
-- KEYS:
--   1 inflight  zset    receipts by deadline
--   2 dead      zset    dead letters by time of death
--   3 ledger    hash    counters
--   4-19 records hash   the 16 record hashes
-- ARGV:
--   1 receipt
--   2 reason    bytes, 0..512
--   3 limit     dead letters that this shard keeps, 1..
--   4 maxAgeMs  ms that a dead letter is kept, 1..
-- Returns: OK nowUs dropped (dead letters dropped for number or age, at most 100 of each a call) | STALE nowUs (as retry)
-- Cost: O(log(dead) + dropped).
-- Replay: STALE, nothing changes.
-- @include clock
-- @include record
-- @include receipt
local inflight, dead, ledger, records = KEYS[1], KEYS[2], KEYS[3], 4
local receipt, reason, limit, maxAgeMs = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local DROPS = 100

local nowUs, now = clock()
if not redis.call('ZSCORE', inflight, receipt) then return { 'STALE', nowUs } end
local member = memberOf(receipt)
local hash = KEYS[records + digit(member)]
local record = redis.call('HGET', hash, member)
if not record then
  redis.call('ZREM', inflight, receipt)
  redis.call('HINCRBY', ledger, 'orphans', 1)
  return { 'STALE', nowUs }
end
if not readable(record) then return { 'STALE', nowUs } end
local over = math.min(redis.call('ZCARD', dead) + 1 - limit, DROPS)
local drops, marked = {}, {}
local function mark(members)
  for _, old in ipairs(members) do
    if not marked[old] then
      marked[old] = true
      drops[#drops + 1] = old
    end
  end
end
if over > 0 then mark(redis.call('ZRANGE', dead, 0, over - 1)) end
mark(redis.call('ZRANGEBYSCORE', dead, '-inf', digits(now - maxAgeMs), 'LIMIT', 0, DROPS))

redis.call('ZREM', inflight, receipt)
redis.call('HSET', hash, member,
  changed(record, 'X', attemptOf(record), deliveryOf(record), minuteOf(record), dueOf(record), reason))
redis.call('ZADD', dead, digits(now), member)
redis.call('HINCRBY', ledger, 'buried', 1)
if #drops > 0 then
  for _, old in ipairs(drops) do redis.call('HDEL', KEYS[records + digit(old)], old) end
  redis.call('ZREM', dead, unpack(drops))
  redis.call('HINCRBY', ledger, 'purged', #drops)
  redis.call('HINCRBY', ledger, 'overflow', #drops)
end
return { 'OK', nowUs, #drops }
