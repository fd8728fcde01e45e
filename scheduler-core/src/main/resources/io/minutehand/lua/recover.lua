#!lua flags=allow-oom
-- recover: hands jobs that are stranded in flight to the calling node.
-- Transition: in flight past its deadline, or of a node found dead -> in flight of the caller, delivery + 1; a receipt that is not its job's -> dropped.
-- KEYS:
--   1 inflight  zset    receipts by deadline
--   2 pops      hash    the calling node's last handout of this shard
--   3 ledger    hash    counters
--   4-19 records hash   the 16 record hashes
-- ARGV:
--   1 node      the calling node's id
--   2 seq       its call number on this shard, shared with pop
--   3 limit     jobs at most, 1..500
--   4 visibilityMs ms, 1..
--   5 keepMs    ms that the replay stays, 1..
--   6 from      id of the dead node; empty: whatever is past its deadline
--   7 offset    with from: receipts to leave out at the front, 0..
-- Returns:
--   OLD nowUs
--   OK nowUs more skipped then member, record of each job; more = 1 when another call may find more;
--     skipped = records of a newer version, left alone (without from: put off for 10 s). Receipts without a record are dropped and counted
--     as orphans, those of another delivery or of a job that is not in flight as mended
-- Cost: O(limit * log(inflight)); with from also 1,000 receipts and that node's records among them read.
-- Replay: as pop.
-- @include clock
-- @include record
-- @include receipt
-- @include handout
local inflight, pops, ledger, records = KEYS[1], KEYS[2], KEYS[3], 4
local node, seq, limit, visibilityMs, keepMs = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5]
local from, offset = ARGV[6], tonumber(ARGV[7])
local MAX_BYTES, PAGE, PUT_OFF_MS = 1048576, 1000, 10000

local nowUs, now = clock()
local lastSeq, lastReceipts, lastFenced = lastHandout(pops)
if seq < lastSeq or seq <= lastFenced then return { 'OLD', nowUs } end
if seq == lastSeq then return replay({ 'OK', nowUs, 1, 0 }, lastReceipts, inflight, records) end

local reply = { 'OK', nowUs, 0, 0 }
local candidates = {}
if from == '' then
  candidates = redis.call('ZRANGEBYSCORE', inflight, '-inf', digits(now), 'LIMIT', 0, limit)
  if #candidates == limit then reply[3] = 1 end
else
  local page = redis.call('ZRANGE', inflight, offset, offset + PAGE - 1)
  for _, receipt in ipairs(page) do
    if nodeOf(receipt) == from then
      local member = memberOf(receipt)
      local record = redis.call('HGET', KEYS[records + digit(member)], member)
      if record and not readable(record) then
        reply[4] = reply[4] + 1
      elseif #candidates == limit then
        reply[3] = 1
        break
      else
        candidates[#candidates + 1] = receipt
      end
    end
  end
  if #page == PAGE then reply[3] = 1 end
end

local handout = newHandout(node, seq)
local gone, putOff, orphans, strays = {}, {}, 0, 0
for _, receipt in ipairs(candidates) do
  local member = memberOf(receipt)
  local record = redis.call('HGET', KEYS[records + digit(member)], member)
  if not record then
    gone[#gone + 1] = receipt
    orphans = orphans + 1
  elseif not readable(record) then
    reply[4] = reply[4] + 1
    putOff[#putOff + 1] = digits(now + PUT_OFF_MS)
    putOff[#putOff + 1] = receipt
  elseif stateOf(record) ~= 'I' or digits(deliveryOf(record)) ~= string.match(receipt, '^%d+') then
    strays = strays + 1
    gone[#gone + 1] = receipt
  elseif handout.count > 0 and handout.bytes + #record > MAX_BYTES then
    reply[3] = 1
    break
  else
    gone[#gone + 1] = receipt
    reply[#reply + 1] = member
    reply[#reply + 1] = add(handout, member, record)
  end
end

write(handout, inflight, pops, records, now + visibilityMs, keepMs)
if #putOff > 0 then redis.call('ZADD', inflight, unpack(putOff)) end
if #gone > 0 then redis.call('ZREM', inflight, unpack(gone)) end
if handout.count > 0 then redis.call('HINCRBY', ledger, 'recovered', handout.count) end
if strays > 0 then redis.call('HINCRBY', ledger, 'mended', strays) end
if orphans > 0 then redis.call('HINCRBY', ledger, 'orphans', orphans) end
return reply
