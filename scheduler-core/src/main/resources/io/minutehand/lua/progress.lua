#!lua flags=allow-oom
-- progress: reads how far a reconciliation has come, or writes it, under its lease.
-- Transition: none of a job's.
-- KEYS:
--   1 lease     hash    lease of the reconciliation
--   2 state     string  how far it has come, PX
-- ARGV:
--   1 holder    field: <client id>:<node>
--   2 fresh      the state to write; empty: a read
--   3 ttlMs     ms that a written state stays, 1..
-- Returns:
--   OK nowUs state                 as it stands now; empty = there is none
--   LOST nowUs                     the lease is gone, or another's: nothing is written
-- Cost: O(1).
-- Replay: the same answer while the lease is held.
-- @include clock
local lease, state = KEYS[1], KEYS[2]
local holder, fresh, ttlMs = ARGV[1], ARGV[2], ARGV[3]

local nowUs = clock()
if redis.call('HEXISTS', lease, holder) == 0 then return { 'LOST', nowUs } end
local stored = redis.call('GET', state) or ''
if fresh == '' then return { 'OK', nowUs, stored } end

redis.call('SET', state, fresh, 'PX', ttlMs)
return { 'OK', nowUs, fresh }
