#!lua flags=allow-oom
-- recount: compares the counter of pending jobs with what the buckets hold, and on request sets it right.
-- Transition: none of a job's.
-- KEYS:
--   1 ledger    hash    counters
--   2 index     zset    minutes of the non-empty buckets
--   3 inflight  zset    receipts by deadline
--   4 dead      zset    dead letters
--   then 1 a minute of ARGV, 0..3000: its bucket (zset)
-- ARGV:
--   1 mend      1 = set the counter right, 0 = only tell
--   2 whole     1 = the minutes are all that the index names, 0 = they are a part: only their jobs are counted
--   then minutes
-- Returns:
--   OK nowUs pending held          the counter as it was, and the jobs in these buckets
--   CHANGED nowUs                  the index names others, so the sum would prove nothing
-- Cost: O(minutes * log(index)).
-- Replay: OK with the counter set right.
-- @include clock
local ledger, index, inflight, dead = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local mend, whole = ARGV[1] == '1', ARGV[2] == '1'

local nowUs = clock()
local held, named = 0, 0
for i = 5, #KEYS, 1 do held = held + redis.call('ZCARD', KEYS[i]) end
if whole then
  for i = 3, #ARGV do
    if redis.call('ZSCORE', index, ARGV[i]) then named = named + 1 end
  end
  if named ~= redis.call('ZCARD', index) then return { 'CHANGED', nowUs } end
end
local counters = redis.call('HMGET', ledger, 'pending', 'orphans', 'accepted', 'done', 'cancelled', 'purged')
for i = 1, 6 do counters[i] = tonumber(counters[i] or '0') end
local pending, orphans, accepted = counters[1], counters[2], counters[3]
local ended = redis.call('ZCARD', dead) + counters[4] + counters[5] + counters[6]
local over = held + redis.call('ZCARD', inflight) + ended + orphans - accepted
-- A member without a record counted as an orphan. If its job had ended, and only the entry was put there by hand, that was one too many.
local noOrphans = math.max(0, math.min(orphans, over, held - pending))

if mend and whole and pending ~= held then
  redis.call('HINCRBY', ledger, 'pending', digits(held - pending))
  if noOrphans > 0 then redis.call('HINCRBY', ledger, 'orphans', -noOrphans) end
  redis.call('HINCRBY', ledger, 'mended', 1)
end
return { 'OK', nowUs, pending, held }
