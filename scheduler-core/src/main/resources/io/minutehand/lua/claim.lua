#!lua flags=allow-oom
-- claim: takes a bucket's lease when Redisson's own lock script was refused for lack of memory; writes exactly the same hash.
-- Transition: lease absent -> held.
-- KEYS:
--   1 lease     hash    the bucket's lease
-- ARGV:
--   1 holder    field: <client id>:<node>
--   2 leaseMs   ms, 1..
-- Returns: OK nowUs (also when held by the caller: the lease starts anew) | HELD nowUs ms (another holds it for so long)
-- Cost: O(1).
-- Replay: OK again.
-- Source: the hash that Redisson's RLock keeps: field of the holder = 1, PEXPIRE.
-- @include clock
local lease = KEYS[1]
local holder, leaseMs = ARGV[1], ARGV[2]

local nowUs = clock()
if redis.call('EXISTS', lease) == 1 and redis.call('HEXISTS', lease, holder) == 0 then
  return { 'HELD', nowUs, redis.call('PTTL', lease) }
end

redis.call('HSET', lease, holder, 1)
redis.call('PEXPIRE', lease, leaseMs)
return { 'OK', nowUs }
