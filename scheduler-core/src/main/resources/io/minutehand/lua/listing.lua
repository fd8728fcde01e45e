#!lua flags=allow-oom
-- listing: checks that the index names just the buckets that hold jobs, and on request mends it.
-- Transition: none of a job's.
-- KEYS:
--   1 index     zset    minutes of the non-empty buckets
--   2 ledger    hash    counters
--   then buckets zset   every bucket that an item names
-- ARGV:
--   1 mend      1 = name the missing and drop the empty, 0 = only tell
--   then 2 an item, 1..500 items: bucket (its place in KEYS), its minute
-- Returns: nowUs then per item:
--   OK                             named and not empty, or neither
--   EMPTY                          named, but empty
--   UNLISTED                       it holds jobs, and the index does not name it, or not at its place
-- Cost: O(items * log(index)).
-- Replay: OK for what the first call mended.
-- @include clock
local index, ledger = KEYS[1], KEYS[2]
local mend = ARGV[1] == '1'

local reply, add, drop, seen = { (clock()) }, {}, {}, {}
for at = 2, #ARGV, 2 do
  local bucket, minute = KEYS[tonumber(ARGV[at])], ARGV[at + 1]
  local score, jobs = redis.call('ZSCORE', index, minute), redis.call('ZCARD', bucket)
  local verdict = 'OK'
  if jobs == 0 and score then
    verdict = 'EMPTY'
    if not seen[minute] then drop[#drop + 1] = minute end
  elseif jobs > 0 and tonumber(score or '-1') ~= tonumber(minute) then
    verdict = 'UNLISTED'
    if not seen[minute] then
      add[#add + 1] = minute
      add[#add + 1] = minute
    end
  end
  seen[minute] = true
  reply[#reply + 1] = verdict
end

if mend and #add > 0 then redis.call('ZADD', index, unpack(add)) end
if mend and #drop > 0 then redis.call('ZREM', index, unpack(drop)) end
if mend and #add + #drop > 0 then redis.call('HINCRBY', ledger, 'mended', #add / 2 + #drop) end
return reply
