#!lua
-- schedule: stores a batch of jobs of one shard.
-- Transition: none -> pending (or pending, dead or ended -> pending, for an item with mode R); in an earlier home nothing new.
-- KEYS:
--   1 index     zset    minutes of the non-empty buckets
--   2 ledger    hash    counters and settings epoch of the shard
--   3 dead      zset    dead letters
--   4 wakeChannel channel hint to the bucket's owner
--   5.. records hash    the record hashes of the items, each once
--   then ends   string  tombstone of each item, in the order of the items
--   then buckets zset   every bucket that an item names
-- ARGV:
--   1 epoch     settings epoch that the caller knows
--   2 horizonMs ms, 0.. : a job due within it wakes the owner when it becomes the first of its bucket
--   3 count     items, 1..500
--   4 durable   1 = the caller waits for replicas next: write in any case, since it will wait for no more than its connection's last write
--   5 earlier   1 = this shard is an earlier home of the items: what is not here is not stored here
--   6 beginnings the digits that the members in these record hashes begin with, in the order of KEYS
--   then 9 an item: member, due (epoch ms), minute, bucket (its place in KEYS), digest (8 bytes), mode (K keep, R replace),
--     from (place in KEYS of the bucket that a replaced job waits in, 0 = none known), fromMinute (0 = none known), body (bytes)
-- Returns:
--   STALE_SETTINGS nowUs           the epoch is another: nothing was stored
--   CLOCK_AHEAD nowUs              an item's minute is later than that of max(due, now), it would be found too late: nothing was stored
--   OK nowUs then 2 an item:       CREATED -, EXISTS state, CONFLICT state, REPLACED state, RUNNING I, ELSEWHERE minute, NEWER -,
--                                  ABSENT - (earlier home: not here), ABSENT state (ended here and to be replaced: its tombstone has gone)
--   (an OOM error before any write when the server is full)
-- Cost: O(count * log(bucket)).
-- Replay: an identical call answers EXISTS where the first said CREATED or REPLACED, and writes no job (durable: counts itself). So an id
--   counts once in a call: a second item is told what became of the first, and not stored.
-- @include clock
-- @include record
-- @include wake
-- @include lists
local index, ledger, dead, wakeChannel = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local epoch, horizonMs, count = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local durable, earlier, records, beginnings, items = ARGV[4] == '1', ARGV[5] == '1', 5, ARGV[6], 7

local nowUs, now = clock()
local hashes, ends = hashesOf(beginnings, records), records + #beginnings
if redis.call('HGET', ledger, 'epoch') ~= epoch then return { 'STALE_SETTINGS', nowUs } end

local reply, tombstones = { 'OK', nowUs }, redis.call('MGET', unpack(KEYS, ends, ends + count - 1))
local firsts, fields, scores, earliest, minutes, removed, undead, unended, created = {}, {}, {}, {}, {}, {}, {}, {}, 0

for at = items, #ARGV, 9 do
  local i, member, due, minute = (at - items) / 9 + 1, ARGV[at], tonumber(ARGV[at + 1]), ARGV[at + 2]
  local digestNow, replace = ARGV[at + 4], ARGV[at + 5] == 'R'
  local bucketKey, from, hash = KEYS[tonumber(ARGV[at + 3])], KEYS[tonumber(ARGV[at + 6])], hashes[string.byte(member)]
  if minute * 60000 > math.max(due, now) then return { 'CLOCK_AHEAD', nowUs } end
  local record, ended = redis.call('HGET', hash, member), tombstones[i]
  local state = record and stateOf(record) or ended and string.sub(ended, 1, 1) or '-'
  local digestThen = record and digestOf(record) or ended and string.sub(ended, 2)
  local first, status, detail = firsts[member], nil, state
  if first then
    status, detail = reply[2 * first + 1], reply[2 * first + 2]
    if status == 'CREATED' or status == 'REPLACED' then status, detail = 'EXISTS', 'P' end
    if status == 'EXISTS' and ARGV[items + (first - 1) * 9 + 4] ~= digestNow then status = 'CONFLICT' end
  elseif record and not readable(record) then
    status, detail = 'NEWER', '-'
  elseif digestThen == digestNow then
    status = 'EXISTS'
  elseif digestThen and not replace then
    status = 'CONFLICT'
  elseif earlier and not record then
    status = 'ABSENT'
    if ended then unended[#unended + 1] = KEYS[ends + i - 1] end
  elseif state == 'I' then
    status = 'RUNNING'
  elseif state == 'P' and ARGV[at + 7] ~= digits(minuteOf(record)) then
    status, detail = 'ELSEWHERE', digits(minuteOf(record))
  else
    status = digestThen and 'REPLACED' or 'CREATED'
    if state == 'P' and from ~= bucketKey then
      removed[from] = removed[from] or { minute = ARGV[at + 7] }
      table.insert(removed[from], member)
    elseif state == 'X' then
      undead[#undead + 1] = member
    elseif state ~= 'P' then
      created = created + 1
      if ended then unended[#unended + 1] = KEYS[ends + i - 1] end
    end
    fields[hash] = append(fields[hash] or {}, member, header('P', 1, 0, tonumber(minute), due, now, digestNow, 0) .. ARGV[at + 8])
    scores[bucketKey] = append(scores[bucketKey] or {}, ARGV[at + 1], member)
    earliest[bucketKey], minutes[bucketKey] = math.min(earliest[bucketKey] or due, due), minute
  end
  reply[2 * i + 1], reply[2 * i + 2] = status, detail
  firsts[member] = first or i
end

local wakes, emptied, sizes = {}, {}, {}
for bucketKey, due in pairs(earliest) do
  local first = firstDue(bucketKey)
  if not first or due < first then wakes[bucketKey] = due end
end
for from, members in pairs(removed) do
  sizes[from] = redis.call('ZCARD', from)
  if not scores[from] and sizes[from] == #members then emptied[#emptied + 1] = members.minute end
end

for hash, list in pairs(fields) do redis.call('HSET', hash, unpack(list)) end
for bucketKey, list in pairs(scores) do
  redis.call('ZADD', bucketKey, unpack(list))
  redis.call('ZADD', index, minutes[bucketKey], minutes[bucketKey])
end
for from, members in pairs(removed) do redis.call('ZREM', from, unpack(members)) end
if #emptied > 0 then redis.call('ZREM', index, unpack(emptied)) end
if #undead > 0 then redis.call('ZREM', dead, unpack(undead)) end
if #unended > 0 then redis.call('DEL', unpack(unended)) end
if created + #undead > 0 then
  redis.call('HINCRBY', ledger, 'accepted', created + #undead)
  redis.call('HINCRBY', ledger, 'pending', created + #undead)
end
if #undead > 0 then redis.call('HINCRBY', ledger, 'purged', #undead) end
if durable and not next(fields) then redis.call('HINCRBY', ledger, 'barriers', 1) end
for bucketKey, due in pairs(wakes) do wake(wakeChannel, minutes[bucketKey], due, now, horizonMs) end
return reply
