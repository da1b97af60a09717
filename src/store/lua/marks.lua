-- Shared by the scripts that read, store and delete strings of marks.
local MARK = 6

-- Whether marks contain a mark, at a multiple of its length.
local function among(marks, mark)
  local at = string.find(marks, mark, 1, true)
  while at and at % MARK ~= 1 do at = string.find(marks, mark, at + 1, true) end
  return at
end

-- Returns the memory of a string in Redis, bytes. It is accounted in steps of 64 marks, 128, 256 …, plus 200 bytes for the
-- key and its place among the expiries.
local function marks_capacity(length)
  local capacity = 384
  while capacity < length do capacity = capacity * 2 end
  return capacity
end

local function marks_size(length) return length == 0 and 0 or 200 + marks_capacity(length) end
