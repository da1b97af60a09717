-- Shared by append and move: stores a group of runs.
-- A run is what one frame leaves behind for one place: u8 kind ('L' a lane; 'U', 'N', 'C' held: unknown, no route, clock);
-- u8 length and name of the lane or device; u8 length and name of the string that remembers what was seen (0: none);
-- u8 flags (1: look up first, 2: keep the string for the whole window from now, 4: the device's latest span is asked for);
-- u16 number of records; where there is a string, a mark of 6 bytes for each; u32 length of the records; records (first byte:
-- length).
local byte, sub = string.byte, string.sub

local MARK = 6
local LANE, UNKNOWN, NO_ROUTE = byte('LUN', 1, 3)

-- A text with its length in front, and what is behind it.
local function text_at(group, at)
  local behind = at + 1 + byte(group, at)
  return sub(group, at + 1, behind - 1), behind
end

local function records_at(group, at, count)
  local records = {}
  for i = 1, count do
    local length = byte(group, at)
    records[i] = sub(group, at, at + length - 1)
    at = at + length
  end
  return records, at
end

-- A run, and where the next one begins.
local function run_at(group, at)
  local name, behind_name = text_at(group, at + 1)
  local string_name, behind_string = text_at(group, behind_name)
  local flags, high, low = byte(group, behind_string, behind_string + 2)
  local count, marks_at = high * 256 + low, behind_string + 3
  local marks = #string_name > 0 and sub(group, marks_at, marks_at + count * MARK - 1) or ''
  local records, behind = records_at(group, marks_at + #marks + 4, count)
  local kind = byte(group, at)
  return { kind = kind, name = name, string = string_name, flags = flags, count = count, marks = marks, records = records }, behind
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

-- The device's latest span before, or -1.
local function latest_span(device)
  return tonumber(redis.call('HGET', KEYS[6], device) or -1)
end

-- Keeps a string for the whole window, and notes its span where that is the device's latest.
local function keep(name, window)
  redis.call('PEXPIRE', KEYS[5] .. name, window)
  local device, span = string.match(name, '^(.*):(%d+)$')
  if tonumber(span) > latest_span(device) then redis.call('HSET', KEYS[6], device, span) end
end

-- What of a run was not seen before; it is from now on.
local function new_records(run, window)
  local key = KEYS[5] .. run.string
  local records, marks = run.records, run.marks
  local known = run.flags % 2 == 1 and redis.call('GET', key)
  if known then records, marks = unseen(records, marks, known) end
  local fresh = #marks > 0 and redis.call('APPEND', key, marks) == #marks
  if fresh or run.flags % 4 >= 2 then keep(run.string, window) end
  return records
end

-- Whether a lane was empty: it is in the schedule exactly when its list is not.
local function begins(lane, records)
  return #records > 0 and redis.call('RPUSH', KEYS[3] .. lane, unpack(records)) == #records
end

-- How many of a device are discarded, as the oldest of too many; nothing where it is unknown, and too many are.
local function hold(run, held_most, unknown_most)
  local reason = run.kind == UNKNOWN and 'unknown' or run.kind == NO_ROUTE and 'no_route' or 'clock'
  local index, list = KEYS[4] .. reason, KEYS[4] .. reason .. ':' .. run.name
  if run.kind == UNKNOWN and redis.call('EXISTS', list) == 0 and redis.call('ZCARD', index) >= unknown_most then return end
  local length = redis.call('RPUSH', list, unpack(run.records))
  redis.call('ZADD', index, 'NX', now, run.name)
  if length <= held_most then return 0 end
  redis.call('LTRIM', list, length - held_most, -1)
  return length - held_most
end

-- Puts lanes that were empty into the schedule, as many at once as Lua can hand over.
local function schedule(lanes, due)
  for from = 1, #lanes, 1000 do
    local call = { 'ZADD', KEYS[1], 'NX' }
    for i = from, math.min(from + 999, #lanes) do
      call[#call + 1] = due
      call[#call + 1] = lanes[i]
    end
    redis.call(unpack(call))
  end
end

local function count(field, amount)
  if amount ~= 0 then redis.call('HINCRBY', KEYS[2], field, amount) end
end

-- KEYS 1-6: schedule, custody, prefix of lanes, prefix of held, prefix of seen, latest spans.  Answers a list of: for each run
-- of which records were left out its number from 0 and how many were seen before, or -1 where a device is unknown and too many
-- are; and a list of: for each run that asked its number and the device's latest span before, or -1.
local function store(group, delay, window, held_most, unknown_most)
  local left_out, latest, begun = {}, {}, {}
  local duplicates, overflowed, refused = 0, 0, 0
  local function note(list, number, value)
    list[#list + 1] = number
    list[#list + 1] = value
  end

  local at, number, run = 1, 0, nil
  while at <= #group do
    run, at = run_at(group, at)
    if run.kind == LANE then
      if run.flags >= 4 then note(latest, number, latest_span(string.match(run.string, '^(.*):'))) end
      local records = #run.string > 0 and new_records(run, window) or run.records
      local seen = run.count - #records
      if seen > 0 then note(left_out, number, seen) end
      duplicates = duplicates + seen
      if begins(run.name, records) then begun[#begun + 1] = run.name end
    else
      local discarded = hold(run, held_most, unknown_most)
      if not discarded then note(left_out, number, -1) end
      overflowed = overflowed + (discarded or 0)
      refused = refused + (discarded and 0 or run.count)
    end
    number = number + 1
  end

  schedule(begun, now + delay)
  count('filtered:duplicate', duplicates)
  count('discarded:held_overflow', overflowed)
  count('received', -refused)
  return { left_out, latest }
end
