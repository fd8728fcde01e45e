-- A receipt: <delivery>:<node>.<popSeq>:<member>. The member is the rest and may hold ':' and '.'.
local function memberOf(receipt)
  return string.match(receipt, '^%d+:[^:]+:(.+)$')
end

local function nodeOf(receipt)
  return string.match(receipt, '^%d+:([^:.]+)%.')
end
