#!lua flags=allow-oom
-- retry: puts a job in flight back to wait for a later time.
-- Transition: in flight -> pending in a bucket; attempt + 1, or not (nack).
-- KEYS:
--   1 inflight  zset    receipts by deadline
--   2 bucket    zset    the bucket of the new due time
--   3 index     zset    minutes of the non-empty buckets
--   4 ledger    hash    counters
--   5 hash      hash    the record hash of the job
--   6 wakeChannel channel hint to the bucket's owner
-- ARGV:
--   1 receipt
--   2 due       epoch ms
--   3 minute    the bucket's minute, not later than that of max(due, now)
--   4 counted   1 = a failed attempt, 0 = handed back unrun (nack): neither attempt nor delivery counts
--   5 reason    bytes, 0..512; empty keeps the one stored
--   6 horizonMs ms, 0..
-- Returns: OK nowUs attempt | STALE nowUs (not in flight under this receipt, or its record is gone or of a newer version)
-- Cost: O(log(bucket) + log(inflight)).
-- Replay: STALE, nothing changes.
-- @include clock
-- @include record
-- @include receipt
-- @include wake
local inflight, bucket, index, ledger, hash, wakeChannel = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local receipt, due, minute, counted, reason = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4] == '1', ARGV[5]
local horizonMs = tonumber(ARGV[6])

local nowUs, now = clock()
if not redis.call('ZSCORE', inflight, receipt) then return { 'STALE', nowUs } end
local member = memberOf(receipt)
local record = redis.call('HGET', hash, member)
if not record then
  redis.call('ZREM', inflight, receipt)
  redis.call('HINCRBY', ledger, 'orphans', 1)
  return { 'STALE', nowUs }
end
if not readable(record) then return { 'STALE', nowUs } end
local attempt, delivery = attemptOf(record), math.max(deliveryOf(record) - 1, 0)
if counted then
  attempt = math.min(attempt + 1, 65535)
  delivery = 0
end
if reason == '' then reason = reasonOf(record) end
local first = firstDue(bucket)

redis.call('ZREM', inflight, receipt)
redis.call('HSET', hash, member, changed(record, 'P', attempt, delivery, minute, due, reason))
redis.call('ZADD', bucket, digits(due), member)
redis.call('ZADD', index, ARGV[3], ARGV[3])
redis.call('HINCRBY', ledger, 'pending', 1)
redis.call('HINCRBY', ledger, counted and 'retried' or 'nacked', 1)
if not first or due < first then wake(wakeChannel, ARGV[3], due, now, horizonMs) end
return { 'OK', nowUs, attempt }
