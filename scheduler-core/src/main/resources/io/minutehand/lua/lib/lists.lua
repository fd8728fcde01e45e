-- Appends two values to a list, which is the way in which Redis takes fields with values and scores with members.
local function append(list, first, second)
  list[#list + 1] = first
  list[#list + 1] = second
  return list
end
