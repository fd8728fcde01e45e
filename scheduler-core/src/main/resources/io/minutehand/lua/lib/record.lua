-- A record: header of 36 bytes, then the reason of the last failure, then the body (opaque here). Big-endian.
--   1 version | 2 state | 3-4 attempt | 5-6 delivery | 7-10 minute | 11-18 due ms | 19-26 created ms | 27-34 digest | 35-36 length of reason
local VERSION = 1
local HEADER = '>BBHHI4i8i8c8H'

-- The index 0..15 of the record hash that holds a member: a member begins with that hexadecimal digit.
local function digit(member)
  local byte = string.byte(member)
  if byte < 58 then return byte - 48 end
  return byte - 87
end

-- Whether the header can be understood: this version, and not cut.
local function readable(record)
  return string.byte(record) == VERSION and #record >= 36 and #record >= 36 + struct.unpack('>H', record, 35)
end
local function stateOf(record) return string.sub(record, 2, 2) end
local function attemptOf(record) return string.byte(record, 3) * 256 + string.byte(record, 4) end
local function deliveryOf(record) return string.byte(record, 5) * 256 + string.byte(record, 6) end
local function minuteOf(record) return (struct.unpack('>I4', record, 7)) end
local function dueOf(record) return (struct.unpack('>i8', record, 11)) end
local function digestOf(record) return string.sub(record, 27, 34) end
local function reasonOf(record) return string.sub(record, 37, 36 + struct.unpack('>H', record, 35)) end
local function bodyOf(record) return string.sub(record, 37 + struct.unpack('>H', record, 35)) end

-- The minute of a bucket as records hold it, and whether a job is pending in that bucket: bytes are compared, since pop asks it of each job.
local function placeOf(minute) return struct.pack('>I4', minute) end
local function waitsIn(record, place) return string.byte(record, 2) == 80 and string.sub(record, 7, 10) == place end

local function header(state, attempt, delivery, minute, due, created, digest, reasonBytes)
  return struct.pack(HEADER, VERSION, string.byte(state), attempt, delivery, minute, due, created, digest, reasonBytes)
end

-- The record in flight: one delivery more, the rest as it was.
local function delivered(record, delivery)
  return string.sub(record, 1, 1) .. 'I' .. string.sub(record, 3, 4) .. struct.pack('>H', delivery) .. string.sub(record, 7)
end

-- The record in another state or place; attempt and delivery as given, the reason replaced, the body kept.
local function changed(record, state, attempt, delivery, minute, due, reason)
  local created = struct.unpack('>i8', record, 19)
  return header(state, attempt, delivery, minute, due, created, digestOf(record), #reason) .. reason .. bodyOf(record)
end

