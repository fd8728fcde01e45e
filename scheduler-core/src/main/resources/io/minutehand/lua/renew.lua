#!lua flags=allow-oom
-- renew: prolongs leases of one shard.
-- Transition: lease held -> held for longer (batch).
-- KEYS:
--   1.. leases  hash    leases that the caller believes to hold, 1..500
-- ARGV:
--   1 holder    field: <client id>:<node>
--   2 leaseMs   ms from now, 1..
-- Returns: nowUs then per lease OK | LOST (gone, or another's)
-- Cost: O(leases).
-- Replay: the same answer; the lease counts from the later call.
-- @include clock
local leases = KEYS
local holder, leaseMs = ARGV[1], ARGV[2]

local reply, held = { (clock()) }, {}
for i, lease in ipairs(leases) do
  local mine = redis.call('HEXISTS', lease, holder) == 1
  reply[i + 1] = mine and 'OK' or 'LOST'
  if mine then held[#held + 1] = lease end
end
for _, lease in ipairs(held) do redis.call('PEXPIRE', lease, leaseMs) end
return reply
