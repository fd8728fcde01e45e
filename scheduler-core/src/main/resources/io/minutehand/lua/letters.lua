#!lua flags=no-writes,allow-oom
-- letters: reads what is known of dead letters, without their bodies.
-- Transition: none (read).
-- KEYS:
--   1 dead      zset    dead letters by time of death
--   2-17 records hash   the 16 record hashes
-- ARGV:
--   then members, 1..500
-- Returns: nowUs then per member, up to the one that makes more than 1 MiB of records: time of death (epoch ms, -1 = not dead), bytes of the
--   record (-1 = there is none), its header and reason (empty when it cannot be read)
-- Cost: O(members * log(dead) + bytes).
-- Replay: a read.
-- @include clock
-- @include record
local dead, records = KEYS[1], 2
local MAX_BYTES = 1048576

local reply, bytes = { (clock()) }, 0
for i = 1, #ARGV do
  local member = ARGV[i]
  local record = redis.call('HGET', KEYS[records + digit(member)], member)
  reply[#reply + 1] = digits(tonumber(redis.call('ZSCORE', dead, member) or '-1'))
  reply[#reply + 1] = record and #record or -1
  reply[#reply + 1] = record and readable(record) and string.sub(record, 1, 36) .. reasonOf(record) or ''
  bytes = bytes + (record and #record or 0)
  if bytes > MAX_BYTES then break end
end
return reply
