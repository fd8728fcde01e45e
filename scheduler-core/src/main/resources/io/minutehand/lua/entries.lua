#!lua flags=allow-oom
-- entries: checks that entries of a bucket, receipts or dead letters have the record that they stand for, and on request drops the others.
-- Transition: none of a healthy job; a member without a record -> gone, counted as an orphan.
-- KEYS:
--   1 set       zset    the bucket, the in-flight set or the dead letters
--   2 index     zset    minutes of the non-empty buckets
--   3 ledger    hash    counters
--   4-19 records hash   the 16 record hashes
-- ARGV:
--   1 mend      1 = drop what stands for nothing, 0 = only tell
--   2 state     the state of records that belong there: P, I or X
--   3 minute    the bucket's minute, 0 = the set is no bucket
--   then entries, 1..500: members, or receipts
-- Returns: nowUs then per entry, up to the one that makes more than 1 MiB of records:
--   OK                             its record belongs there, or it is gone meanwhile
--   NO_RECORD                      it has no record: the job is lost
--   STRAY                          its record says that the job is elsewhere
--   NEWER                          its record is not readable: left alone
-- Cost: O(entries * log(set) + bytes).
-- Replay: OK for what the first call dropped.
-- @include clock
-- @include record
-- @include receipt
local set, index, ledger, records = KEYS[1], KEYS[2], KEYS[3], 4
local mend, state, minute = ARGV[1] == '1', ARGV[2], ARGV[3]
local MAX_BYTES = 1048576

local function judge(entry, record)
  if not redis.call('ZSCORE', set, entry) then return 'OK' end
  if not record then return 'NO_RECORD' end
  if not readable(record) then return 'NEWER' end
  local stray = stateOf(record) ~= state
    or state == 'P' and digits(minuteOf(record)) ~= minute
    or state == 'I' and digits(deliveryOf(record)) ~= string.match(entry, '^%d+')
  return stray and 'STRAY' or 'OK'
end

local reply, drops, seen, lost, bytes = { (clock()) }, {}, {}, 0, 0
for i = 4, #ARGV do
  local entry = ARGV[i]
  local member = state == 'I' and memberOf(entry) or entry
  local record = redis.call('HGET', KEYS[records + digit(member)], member)
  local verdict = judge(entry, record)
  reply[#reply + 1] = verdict
  if mend and not seen[entry] and (verdict == 'NO_RECORD' or verdict == 'STRAY') then
    drops[#drops + 1] = entry
    if verdict == 'NO_RECORD' then lost = lost + 1 end
  end
  seen[entry] = true
  bytes = bytes + (record and #record or 0)
  if bytes > MAX_BYTES then break end
end
local emptied = minute ~= '0' and #drops > 0 and #drops == redis.call('ZCARD', set)

if #drops > 0 then
  redis.call('ZREM', set, unpack(drops))
  redis.call('HINCRBY', ledger, 'mended', #drops)
end
if lost > 0 then redis.call('HINCRBY', ledger, 'orphans', lost) end
if lost > 0 and state == 'P' then redis.call('HINCRBY', ledger, 'pending', -lost) end
if emptied then redis.call('ZREM', index, minute) end
return reply
