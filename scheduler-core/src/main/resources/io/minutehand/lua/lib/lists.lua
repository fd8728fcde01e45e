-- Appends two values to a list, which is the way in which Redis takes fields with values and scores with members.
local function append(list, first, second)
  list[#list + 1] = first
  list[#list + 1] = second
  return list
end

-- The record hashes that a call names, by the byte with which their members begin.
local function hashesOf(beginnings, firstKey)
  local hashes = {}
  for i = 1, #beginnings do hashes[string.byte(beginnings, i)] = KEYS[firstKey + i - 1] end
  return hashes
end
