#!lua flags=allow-oom
-- describe: writes or reads what a node says of itself.
-- Transition: none of a job's.
-- KEYS:
--   1 info      hash    the node's description
-- ARGV:
--   1 ttlMs     ms that the description stays, 1..; ignored by a read
--   then field, value pairs: written; none = a read
-- Returns: field, value pairs as they stand now; empty when there is no description
-- Cost: O(fields).
-- Replay: the same.
local info = KEYS[1]
local ttlMs = ARGV[1]

local pairsGiven = {}
for i = 2, #ARGV do pairsGiven[i - 1] = ARGV[i] end
if #pairsGiven > 0 then
  redis.call('HSET', info, unpack(pairsGiven))
  redis.call('PEXPIRE', info, ttlMs)
end
return redis.call('HGETALL', info)
