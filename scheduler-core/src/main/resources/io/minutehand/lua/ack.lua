#!lua flags=allow-oom
-- ack: ends jobs that were handled.
-- Transition: in flight -> done (batch).
-- KEYS:
--   1 inflight  zset    receipts by deadline
--   2 ledger    hash    counters
--   3.. records hash    the record hashes of the jobs, each once
--   then ends   string  tombstone of each job, in the order of the receipts; none with retentionMs 0
-- ARGV:
--   1 retentionMs ms that the tombstones stay, 0 = no tombstones
--   2 beginnings the digits that the members in these record hashes begin with, in the order of KEYS
--   then 2 a job, 1..500 jobs: receipt, digest (8 bytes)
-- Returns: nowUs then per job OK (done now; a receipt named twice counts once) or STALE (not in flight under this receipt)
-- Cost: O(jobs * log(inflight)).
-- Replay: STALE for what the first call ended; nothing changes.
-- @include clock
-- @include receipt
-- @include lists
local inflight, ledger, records = KEYS[1], KEYS[2], 3
local retentionMs, beginnings = tonumber(ARGV[1]), ARGV[2]

local hashes, ends, receipts = hashesOf(beginnings, records), records + #beginnings, {}
for i = 3, #ARGV, 2 do receipts[#receipts + 1] = ARGV[i] end
local deadlines = redis.call('ZMSCORE', inflight, unpack(receipts))
local reply, fields, gone, done = { (clock()) }, {}, {}, {}
for i, receipt in ipairs(receipts) do
  if not deadlines[i] then
    reply[i + 1] = 'STALE'
  else
    reply[i + 1] = 'OK'
    if not done[receipt] then
      done[receipt] = i
      gone[#gone + 1] = receipt
      local member = memberOf(receipt)
      local hash = hashes[string.byte(member)]
      fields[hash] = fields[hash] or {}
      table.insert(fields[hash], member)
    end
  end
end
if #gone == 0 then return reply end

redis.call('ZREM', inflight, unpack(gone))
for hash, members in pairs(fields) do redis.call('HDEL', hash, unpack(members)) end
if retentionMs > 0 then
  for _, i in pairs(done) do
    redis.call('SET', KEYS[ends + i - 1], 'D' .. ARGV[2 * i + 2], 'PX', ARGV[1])
  end
end
redis.call('HINCRBY', ledger, 'done', #gone)
return reply
