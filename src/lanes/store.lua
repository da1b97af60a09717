-- Shared by append and move: stores a group of runs.
-- A run is what one frame leaves behind for one place: u8 kind ('L' a lane; 'U', 'N', 'C' held: unknown, no route, clock);
-- u8 length and name of the lane or device; u8 length and name of the string that remembers what was seen (0: none);
-- u8 flags (1: look up first, 2: keep the string for the whole window from now, 4: the device's latest span is asked for);
-- u16 number of records; where there is a string, a mark of 6 bytes for each; u32 length of the records; records (first byte:
-- length).
local byte, sub = string.byte, string.sub

local MARK = 6

-- Keeps a string for the whole window, and notes its span where that is the device's latest.
local function keep(key, latest, name, window)
  redis.call('PEXPIRE', key, window)
  local device, span = string.match(name, '^(.*):(%d+)$')
  if tonumber(span) > tonumber(redis.call('HGET', latest, device) or -1) then redis.call('HSET', latest, device, span) end
end

-- Whether a mark is among others: where it begins at a multiple of its length.
local function among(marks, mark)
  local at = string.find(marks, mark, 1, true)
  while at and at % MARK ~= 1 do at = string.find(marks, mark, at + 1, true) end
  return at
end

-- The records whose marks are not there yet, and their marks.
local function unseen(records, marks, known)
  local new_records, new_marks = {}, {}
  for i = 1, #records do
    local mark = sub(marks, (i - 1) * MARK + 1, i * MARK)
    if not among(known, mark) then
      new_records[#new_records + 1] = records[i]
      new_marks[#new_marks + 1] = mark
    end
  end
  return new_records, table.concat(new_marks)
end

-- KEYS 1-6: schedule, custody, prefix of lanes, prefix of held, prefix of seen, latest spans.  Answers a list of: for each run
-- of which records were left out its number from 0 and how many were seen before, or -1 where a device is unknown and too many
-- are; and a list of: for each run that asked its number and the device's latest span before, or -1.
local function store(group, delay, window, held_most, unknown_most)
  local at, run = 1, 0
  local scheduled = { 'ZADD', KEYS[1], 'NX' }
  local left_out, latest = {}, {}
  local duplicates, overflowed, refused = 0, 0, 0

  while at <= #group do
    local kind = byte(group, at)
    local name = sub(group, at + 2, at + 1 + byte(group, at + 1))
    at = at + 2 + #name
    local string_name = sub(group, at + 1, at + byte(group, at))
    at = at + 1 + #string_name
    local flags, high, low = byte(group, at, at + 2)
    local count = high * 256 + low
    at = at + 3
    local marks = ''
    if #string_name > 0 then
      marks = sub(group, at, at + count * MARK - 1)
      at = at + #marks
    end
    local records = {}
    at = at + 4
    for i = 1, count do
      local length = byte(group, at)
      records[i] = sub(group, at, at + length - 1)
      at = at + length
    end

    if kind == 76 then
      local seen = 0
      if #string_name > 0 then
        local key = KEYS[5] .. string_name
        if flags >= 4 then
          latest[#latest + 1] = run
          latest[#latest + 1] = tonumber(redis.call('HGET', KEYS[6], string.match(string_name, '^(.*):')) or -1)
        end
        local known = flags % 2 == 1 and redis.call('GET', key)
        if known then
          records, marks = unseen(records, marks, known)
          seen = count - #records
        end
        local fresh = #marks > 0 and redis.call('APPEND', key, marks) == #marks
        if fresh or flags % 4 >= 2 then keep(key, KEYS[6], string_name, window) end
      end
      if seen > 0 then
        left_out[#left_out + 1] = run
        left_out[#left_out + 1] = seen
        duplicates = duplicates + seen
      end
      -- A lane is in the schedule exactly when its list is not empty: only one that was has to be put there.
      if #records > 0 and redis.call('RPUSH', KEYS[3] .. name, unpack(records)) == #records then
        scheduled[#scheduled + 1] = now + delay
        scheduled[#scheduled + 1] = name
        if #scheduled > 2000 then
          redis.call(unpack(scheduled))
          scheduled = { 'ZADD', KEYS[1], 'NX' }
        end
      end
    else
      local reason = kind == 85 and 'unknown' or kind == 78 and 'no_route' or 'clock'
      local index, list = KEYS[4] .. reason, KEYS[4] .. reason .. ':' .. name
      if kind == 85 and redis.call('EXISTS', list) == 0 and redis.call('ZCARD', index) >= unknown_most then
        left_out[#left_out + 1] = run
        left_out[#left_out + 1] = -1
        refused = refused + count
      else
        local length = redis.call('RPUSH', list, unpack(records))
        redis.call('ZADD', index, 'NX', now, name)
        if length > held_most then
          redis.call('LTRIM', list, length - held_most, -1)
          overflowed = overflowed + length - held_most
        end
      end
    end
    run = run + 1
  end

  if #scheduled > 3 then redis.call(unpack(scheduled)) end
  if duplicates > 0 then redis.call('HINCRBY', KEYS[2], 'filtered:duplicate', duplicates) end
  if overflowed > 0 then redis.call('HINCRBY', KEYS[2], 'discarded:held_overflow', overflowed) end
  if refused > 0 then redis.call('HINCRBY', KEYS[2], 'received', -refused) end
  return { left_out, latest }
end
