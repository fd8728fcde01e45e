-- Tells the owner of a bucket that its first job is now sooner than it may think. Only a hint: it may be lost.
local function wake(channel, minute, due, now, horizonMs)
  if due <= now + horizonMs then
    redis.call('SPUBLISH', channel, minute .. ' ' .. digits(due))
  end
end

-- The score of a bucket's first member, or nil of an empty one.
local function firstDue(bucket)
  local first = redis.call('ZRANGE', bucket, 0, 0, 'WITHSCORES')
  return first[2] and tonumber(first[2])
end
