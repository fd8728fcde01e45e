#!lua flags=no-writes,allow-oom
-- heads: reads the headers of some records of one hash, in no order. A record that stays is seen at least once in a whole scan.
-- Transition: none (read).
-- KEYS:
--   1 hash      hash    a record hash
-- ARGV:
--   1 cursor    0 = from the beginning, else what the call before answered
--   2 count     records to aim at, 1..500: fewer where they are large, since they are read as a whole
-- Returns: the next cursor (0 = there is no more), bytes of the records read, then member, header (36 bytes, none when it cannot be read) pairs
-- Cost: O(count + bytes).
-- Replay: a read.
-- @include record
local hash = KEYS[1]
local cursor, count = ARGV[1], ARGV[2]

local page = redis.call('HSCAN', hash, cursor, 'COUNT', count)
local reply = { page[1], 0 }
for i = 1, #page[2], 2 do
  local record = page[2][i + 1]
  reply[2] = reply[2] + #record
  reply[#reply + 1] = page[2][i]
  reply[#reply + 1] = readable(record) and string.sub(record, 1, 36) or ''
end
return reply
