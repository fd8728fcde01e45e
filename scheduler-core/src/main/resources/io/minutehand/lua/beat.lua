#!lua flags=allow-oom
-- beat: says that a node lives, and reads who else does.
-- Transition: node -> node, with another counter.
-- KEYS:
--   1 nodes     zset    node ids by beat counter
-- ARGV:
--   1 node      node id
--   2 join      1 = enter if absent, 0 = only if present
--   3 version   0..999: changes when the node's description did
-- Returns:
--   OK nowUs then per node: id, counter * 1000 + version
--   GONE nowUs                     the node is not listed (it was found dead, or Redis came back empty)
-- Cost: O(nodes).
-- Replay: counts once more, which is harmless.
-- @include clock
local nodes = KEYS[1]
local node, join, version = ARGV[1], ARGV[2] == '1', tonumber(ARGV[3])

local nowUs = clock()
local score = redis.call('ZSCORE', nodes, node)
if not score and not join then return { 'GONE', nowUs } end

local counter = math.floor(tonumber(score or '0') / 1000) + 1
redis.call('ZADD', nodes, digits(counter * 1000 + version), node)
local reply = { 'OK', nowUs }
for i, value in ipairs(redis.call('ZRANGE', nodes, 0, -1, 'WITHSCORES')) do
  reply[i + 2] = i % 2 == 1 and value or digits(tonumber(value))
end
return reply
