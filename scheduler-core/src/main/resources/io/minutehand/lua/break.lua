#!lua flags=allow-oom
-- break: takes leases of one shard from a node that was found dead.
-- Transition: lease held by the named node -> absent (batch).
-- KEYS:
--   1.. leases  hash    leases, 1..500
-- ARGV:
--   1 node      id of the dead node
-- Returns: nowUs then per lease OK (broken) | LOST (not that node's)
-- Cost: O(leases).
-- Replay: LOST, nothing changes.
-- @include clock
local leases = KEYS
local node = ARGV[1]

local reply, broken = { (clock()) }, {}
for i, lease in ipairs(leases) do
  reply[i + 1] = 'LOST'
  for _, holder in ipairs(redis.call('HKEYS', lease)) do
    if string.sub(holder, -#node - 1) == ':' .. node then
      reply[i + 1] = 'OK'
      broken[#broken + 1] = lease
    end
  end
end
for _, lease in ipairs(broken) do redis.call('DEL', lease) end
return reply
