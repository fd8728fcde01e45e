#!lua flags=allow-oom
-- release: gives leases of one shard back.
-- Transition: lease held -> absent (batch).
-- KEYS:
--   1.. leases  hash    leases, 1..500
-- ARGV:
--   1 holder    field: <client id>:<node>
-- Returns: nowUs then per lease OK | LOST (gone, or another's)
-- Cost: O(leases).
-- Replay: LOST, nothing changes.
-- @include clock
local leases = KEYS
local holder = ARGV[1]

local reply, held = { (clock()) }, {}
for i, lease in ipairs(leases) do
  local mine = redis.call('HEXISTS', lease, holder) == 1
  reply[i + 1] = mine and 'OK' or 'LOST'
  if mine then held[#held + 1] = lease end
end
for _, lease in ipairs(held) do redis.call('DEL', lease) end
return reply
