-- What pop and recover share: replay of a lost reply, and the writes that put jobs in flight.

-- The kept sequence number of a node's last handout on this shard, what it got then, and the number of its last call that was fenced;
-- numbers are 0 before the first such call.
local function lastHandout(popKey)
  local kept = redis.call('HMGET', popKey, 'seq', 'receipts', 'fenced')
  return tonumber(kept[1] or '0'), kept[2] or '', tonumber(kept[3] or '0')
end

-- Appends member and record of each kept receipt that is still in flight to the reply.
local function replay(reply, receipts, inflightKey, firstRecordKey)
  for receipt in string.gmatch(receipts, '[^\n]+') do
    if redis.call('ZSCORE', inflightKey, receipt) then
      local member = memberOf(receipt)
      local record = redis.call('HGET', KEYS[firstRecordKey + digit(member)], member)
      if record then
        reply[#reply + 1] = member
        reply[#reply + 1] = record
      end
    end
  end
  return reply
end

-- A set of jobs that one call hands to a node: collected first, written in one go after the last check.
local function newHandout(node, seq)
  return { tail = ':' .. node .. '.' .. digits(seq) .. ':', seq = seq, receipts = {}, fields = {}, bytes = 0, count = 0 }
end

local function add(handout, member, record)
  local delivery = math.min(deliveryOf(record) + 1, 65535)
  local after, index, count = delivered(record, delivery), digit(member), handout.count + 1
  local fields = handout.fields[index]
  if fields then
    fields[#fields + 1] = member
    fields[#fields + 1] = after
  else
    handout.fields[index] = { member, after }
  end
  handout.receipts[count] = delivery .. handout.tail .. member
  handout.bytes, handout.count = handout.bytes + #record, count
  return after
end

local function write(handout, inflightKey, popKey, firstRecordKey, deadline, keepMs)
  local scored, score = {}, digits(deadline)
  for i = 1, handout.count do
    scored[2 * i - 1] = score
    scored[2 * i] = handout.receipts[i]
  end
  if handout.count > 0 then redis.call('ZADD', inflightKey, unpack(scored)) end
  for index, fields in pairs(handout.fields) do
    redis.call('HSET', KEYS[firstRecordKey + index], unpack(fields))
  end
  redis.call('HSET', popKey, 'seq', handout.seq, 'receipts', table.concat(handout.receipts, '\n'))
  redis.call('PEXPIRE', popKey, keepMs)
end
