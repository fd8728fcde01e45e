#!lua flags=allow-oom
-- records: checks that records are where their state says, and on request puts them back there.
-- Transition: none of a healthy job; in flight without a receipt -> pending in its bucket again, attempt and delivery kept.
-- KEYS:
--   1 inflight  zset    receipts by deadline
--   2 dead      zset    dead letters by time of death
--   3 index     zset    minutes of the non-empty buckets
--   4 ledger    hash    counters
--   5-20 records hash   the 16 record hashes
--   then buckets zset   every bucket that an item names
-- ARGV:
--   1 mend      1 = put back what is not where it should be, 0 = only tell
--   then 3 an item, 1..500 items: member, bucket (place in KEYS of the bucket that its record named), minute of that bucket
-- Returns: nowUs then per item, up to the one that makes more than 1 MiB of records:
--   OK                             in its place, or gone, or moved meanwhile
--   NO_ENTRY                       pending, and not in its bucket
--   WRONG_DUE                      pending, and in its bucket with another due time
--   NO_RECEIPT                     in flight, and under no receipt
--   NOT_LISTED                     dead, and not among the dead letters
--   NEWER                          not readable: left alone
--   UNJUDGED                       in flight with more than 10,000 others: not looked for
-- Cost: O(items + bytes), and O(inflight) when a record in flight is among them.
-- Replay: OK for what the first call put back.
-- @include clock
-- @include record
local inflight, dead, index, ledger, records = KEYS[1], KEYS[2], KEYS[3], KEYS[4], 5
local mend = ARGV[1] == '1'
local MAX_BYTES, MAX_IN_FLIGHT = 1048576, 10000

local nowUs, now = clock()
local handed
local function underReceipt(member, delivery)
  if not handed then
    handed = {}
    for _, receipt in ipairs(redis.call('ZRANGE', inflight, 0, MAX_IN_FLIGHT - 1)) do
      local count, of = string.match(receipt, '^(%d+):[^:]+:(.+)$')
      if of then handed[count .. ':' .. of] = true end
    end
  end
  return handed[digits(delivery) .. ':' .. member]
end

local function judge(member, record, bucket, minute)
  if not record then return 'OK' end
  if not readable(record) then return 'NEWER' end
  local state = stateOf(record)
  if state == 'X' then return redis.call('ZSCORE', dead, member) and 'OK' or 'NOT_LISTED' end
  if digits(minuteOf(record)) ~= minute then return 'OK' end
  if state == 'P' then
    local due = redis.call('ZSCORE', bucket, member)
    if not due then return 'NO_ENTRY' end
    return tonumber(due) == dueOf(record) and 'OK' or 'WRONG_DUE'
  end
  if state ~= 'I' then return 'NEWER' end
  if redis.call('ZCARD', inflight) > MAX_IN_FLIGHT then return 'UNJUDGED' end
  return underReceipt(member, deliveryOf(record)) and 'OK' or 'NO_RECEIPT'
end

local reply, fixes, seen, bytes = { nowUs }, {}, {}, 0
for at = 2, #ARGV, 3 do
  local member, bucket = ARGV[at], KEYS[tonumber(ARGV[at + 1])]
  local record = redis.call('HGET', KEYS[records + digit(member)], member)
  local verdict = judge(member, record, bucket, ARGV[at + 2])
  reply[#reply + 1] = verdict
  if mend and not seen[member] and record and verdict ~= 'OK' and verdict ~= 'NEWER' and verdict ~= 'UNJUDGED' then
    fixes[#fixes + 1] = { verdict, member, record, bucket, ARGV[at + 2] }
  end
  seen[member] = true
  bytes = bytes + (record and #record or 0)
  if bytes > MAX_BYTES then break end
end

for _, fix in ipairs(fixes) do
  local verdict, member, record, bucket, minute = unpack(fix)
  if verdict == 'NOT_LISTED' then
    redis.call('ZADD', dead, digits(now), member)
  else
    redis.call('ZADD', bucket, digits(dueOf(record)), member)
    redis.call('ZADD', index, minute, minute)
  end
  if verdict == 'NO_RECEIPT' then
    local again = changed(record, 'P', attemptOf(record), deliveryOf(record), minuteOf(record), dueOf(record), reasonOf(record))
    redis.call('HSET', KEYS[records + digit(member)], member, again)
    redis.call('HINCRBY', ledger, 'pending', 1)
  end
end
if #fixes > 0 then redis.call('HINCRBY', ledger, 'mended', #fixes) end
return reply
