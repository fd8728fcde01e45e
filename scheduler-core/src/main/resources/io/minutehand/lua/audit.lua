#!lua flags=no-writes,allow-oom
-- audit: checks a shard's ledger: accepted = pending + in flight + dead + done + cancelled + purged + orphans.
-- Transition: none (read).
-- KEYS:
--   1 ledger    hash    counters
--   2 inflight  zset    receipts by deadline
--   3 dead      zset    dead letters
-- ARGV: none
-- Returns: nowUs, accepted minus the sum of the rest (0 = nothing is missing), pending, in flight, dead,
--   orphans (jobs whose record was lost, found by whoever met what named them), settings epoch (0 = the shard is not declared)
-- Cost: O(1).
-- Replay: a read.
-- @include clock
local ledger, inflight, dead = KEYS[1], KEYS[2], KEYS[3]

local counters = redis.call('HMGET', ledger, 'accepted', 'pending', 'done', 'cancelled', 'purged', 'orphans', 'epoch')
for i = 1, 7 do counters[i] = tonumber(counters[i] or '0') end
local inFlight, buried = redis.call('ZCARD', inflight), redis.call('ZCARD', dead)
local rest = counters[2] + inFlight + buried + counters[3] + counters[4] + counters[5] + counters[6]
return { (clock()), counters[1] - rest, counters[2], inFlight, buried, counters[6], counters[7] }
