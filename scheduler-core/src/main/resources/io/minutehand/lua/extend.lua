#!lua flags=allow-oom
-- extend: moves the deadlines of jobs that still run.
-- Transition: in flight -> in flight, with a later deadline (batch).
-- KEYS:
--   1 inflight  zset    receipts by deadline
-- ARGV:
--   1 visibilityMs ms from now, 1..
--   then receipts, 1..500
-- Returns: nowUs then per receipt OK | STALE (not in flight under this receipt)
-- Cost: O(receipts * log(inflight)).
-- Replay: the same answer; the deadline counts from the later call.
-- @include clock
local inflight = KEYS[1]
local visibilityMs = tonumber(ARGV[1])

local nowUs, now = clock()
local receipts = {}
for i = 2, #ARGV do receipts[#receipts + 1] = ARGV[i] end
local deadlines = redis.call('ZMSCORE', inflight, unpack(receipts))
local reply, scored = { nowUs }, {}
for i, receipt in ipairs(receipts) do
  reply[i + 1] = deadlines[i] and 'OK' or 'STALE'
  if deadlines[i] then
    scored[#scored + 1] = digits(now + visibilityMs)
    scored[#scored + 1] = receipt
  end
end
if #scored > 0 then redis.call('ZADD', inflight, 'XX', unpack(scored)) end
return reply
