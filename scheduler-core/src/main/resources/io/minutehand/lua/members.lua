#!lua flags=no-writes,allow-oom
-- members: a page of the jobs of one record hash.
-- Transition: none (read).
-- KEYS:
--   1 hash      hash    one of a shard's record hashes
-- ARGV:
--   1 cursor    of the page before, 0 = begin
-- Returns: nowUs, cursor of the next page (0 = this was the last), then members. Who reads from 0 to 0 has seen every job that was there all the
--   time; one may come twice.
-- Cost: O(100), or the whole hash while Redis keeps it packed (512 fields at most).
-- Replay: a read.
-- @include clock
local hash = KEYS[1]
local cursor = ARGV[1]
local PAGE = 100

local page = redis.call('HSCAN', hash, cursor, 'COUNT', PAGE)
local reply = { (clock()), page[1] }
for i = 1, #page[2], 2 do reply[#reply + 1] = page[2][i] end
return reply
