#!lua flags=allow-oom
-- pop: hands due jobs of one bucket to the node that holds its lease.
-- Transition: pending -> in flight (batch); an entry whose job is not pending, or not here -> dropped.
-- KEYS:
--   1 bucket    zset    the bucket
--   2 index     zset    minutes of the non-empty buckets
--   3 lease     hash    the bucket's lease
--   4 inflight  zset    receipts by deadline
--   5 pops      hash    the node's last handout of this shard
--   6 ledger    hash    counters
--   7-22 records hash   the 16 record hashes
-- ARGV:
--   1 holder    the lease's field of this node
--   2 node      node id, without ':' and '.'
--   3 seq       this node's call number on this shard, 1.., one more than that of the last answered call
--   4 limit     jobs at most, 1..500
--   5 visibilityMs ms until an unextended job may be recovered, 1..
--   6 minute    the bucket's minute
--   7 keepMs    ms that the replay stays, 1..
-- Returns:
--   OLD nowUs                      a later call was answered or fenced already: nothing happened
--   FENCED nowUs                   the node does not hold the lease: nothing happened but that the number is used up
--   OK nowUs next skipped then member, record of each job; next = due ms of the first job left, -1 = none;
--     skipped = due records of a newer version, put off for 10 s and left alone. Due entries without a record are dropped and counted as
--     orphans, those whose record is in another state or of another bucket as mended: they never counted as pending
-- Cost: O(limit * log(bucket)).
-- Replay: the same seq gives those of its jobs again that are still in flight, without looking at the lease; after FENCED, FENCED.
-- @include clock
-- @include record
-- @include receipt
-- @include handout
-- @include wake
local bucket, index, lease, inflight, pops, ledger, records = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], 7
local holder, node, seq, limit, visibilityMs = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local minute, keepMs = ARGV[6], ARGV[7]
local MAX_BYTES, PUT_OFF_MS = 1048576, 10000

local nowUs, now = clock()
local lastSeq, lastReceipts, lastFenced = lastHandout(pops)
if seq < lastSeq or seq < lastFenced then return { 'OLD', nowUs } end
if seq == lastSeq then return replay({ 'OK', nowUs, firstDue(bucket) or -1, 0 }, lastReceipts, inflight, records) end
if seq == lastFenced then return { 'FENCED', nowUs } end
if redis.call('HEXISTS', lease, holder) == 0 then
  -- The number is used up: a late twin of this call must not take jobs when the node has the lease again, for nobody waits for its answer.
  redis.call('HSET', pops, 'fenced', seq)
  redis.call('PEXPIRE', pops, keepMs)
  return { 'FENCED', nowUs }
end

local members = redis.call('ZRANGEBYSCORE', bucket, '-inf', digits(now), 'LIMIT', 0, limit)
local handout, place = newHandout(node, seq), placeOf(tonumber(minute))
local reply = { 'OK', nowUs, -1, 0 }
local gone, putOff, orphans, strays, seen = {}, {}, 0, 0, 0
for _, member in ipairs(members) do
  local record = redis.call('HGET', KEYS[records + digit(member)], member)
  local known = record and readable(record)
  if known and handout.count > 0 and handout.bytes + #record > MAX_BYTES then break end
  seen = seen + 1
  if not record then
    orphans = orphans + 1
    gone[#gone + 1] = member
  elseif not known then
    putOff[#putOff + 1] = digits(now + PUT_OFF_MS)
    putOff[#putOff + 1] = member
  elseif not waitsIn(record, place) then
    strays = strays + 1
    gone[#gone + 1] = member
  else
    gone[#gone + 1] = member
    reply[#reply + 1] = member
    reply[#reply + 1] = add(handout, member, record)
  end
end
local following = redis.call('ZRANGE', bucket, seen, seen, 'WITHSCORES')
if following[2] then reply[3] = tonumber(following[2]) end
if #putOff > 0 then
  reply[4] = #putOff / 2
  if reply[3] < 0 or reply[3] > now + PUT_OFF_MS then reply[3] = now + PUT_OFF_MS end
end
local emptied = #gone > 0 and #putOff == 0 and not following[2]

write(handout, inflight, pops, records, now + visibilityMs, keepMs)
if #putOff > 0 then redis.call('ZADD', bucket, unpack(putOff)) end
if #gone > 0 then redis.call('ZREM', bucket, unpack(gone)) end
if #gone > strays then redis.call('HINCRBY', ledger, 'pending', strays - #gone) end
if strays > 0 then redis.call('HINCRBY', ledger, 'mended', strays) end
if orphans > 0 then redis.call('HINCRBY', ledger, 'orphans', orphans) end
if emptied then redis.call('ZREM', index, minute) end
return reply
