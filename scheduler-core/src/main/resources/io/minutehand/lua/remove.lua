#!lua flags=allow-oom
-- remove: strikes a node off the list of the living.
-- Transition: node -> absent.
-- KEYS:
--   1 nodes     zset    node ids by beat counter
-- ARGV:
--   1 node      node id
--   2 expected  the score that the caller saw standing still; empty: the node itself leaves
-- Returns: OK nowUs | GONE nowUs (not listed) | ALIVE nowUs (its score has moved)
-- Cost: O(log(nodes)).
-- Replay: GONE, nothing changes.
-- @include clock
local nodes = KEYS[1]
local node, expected = ARGV[1], ARGV[2]

local nowUs = clock()
local score = redis.call('ZSCORE', nodes, node)
if not score then return { 'GONE', nowUs } end
if expected ~= '' and digits(tonumber(score)) ~= expected then return { 'ALIVE', nowUs } end

redis.call('ZREM', nodes, node)
return { 'OK', nowUs }
