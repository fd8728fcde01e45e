#!lua flags=allow-oom
-- absorb: adds the counters of a retired shard to this one's, once.
-- Transition: none of a job's.
-- KEYS:
--   1 ledger    hash    counters and settings epoch of the shard that stays
-- ARGV:
--   1 mark      names what is added: a field of the ledger that tells that it was
--   then 2 a counter: its name, what the retired shard counted
-- Returns: OK nowUs (added now) | KEPT nowUs (was added before)
-- Cost: O(pairs).
-- Replay: KEPT, nothing changes.
-- @include clock
local ledger = KEYS[1]
local mark = ARGV[1]

local nowUs = clock()
if redis.call('HEXISTS', ledger, mark) == 1 then return { 'KEPT', nowUs } end

redis.call('HSET', ledger, mark, '1')
for at = 2, #ARGV, 2 do redis.call('HINCRBY', ledger, ARGV[at], ARGV[at + 1]) end
return { 'OK', nowUs }
