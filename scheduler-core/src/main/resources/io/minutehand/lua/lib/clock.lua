-- The time of the server that runs the script: whole microseconds, and whole milliseconds cut (never rounded up),
-- so that nothing counts as due before its millisecond has begun.
local function clock()
  local time = redis.call('TIME')
  local nowUs = tonumber(time[1]) * 1000000 + tonumber(time[2])
  return nowUs, math.floor(nowUs / 1000)
end

-- A number as Redis stores it: whole, in digits (Lua's own form turns 1e14 and more into an exponent).
local function digits(number)
  return string.format('%.0f', number)
end
