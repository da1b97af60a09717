-- Stores a group of records: those that arrive (append), or those that leave another list in the same step (move).
-- KEYS  as named; `list` and `index`, the zset that has the list's name while it is not empty, of a move alone
-- ARGV  group, a sequence of runs; ms until a lane that was empty is due; the gateway that stores and its turn as it knows
--       it (see duplicates.ts; '': no duplicates are looked for); ms for which marks are kept; bytes that the marks of all
--       devices may take; the marks of all records of runs with a string of marks, 6 bytes each; the same without a secret,
--       '' where there are none; most held fixes of a device that is not configured; most of these devices; most held fixes of a
--       configured device for a reason; most held fixes in all; number of counters; name and amount of
--       each. Of a move then: the list's name in its index, the token of the lease where the list is a lane's own, else '';
--       of each entry that leaves its position in the list, from 0, and the entry as it was read there
-- Answers { list of (number of a run, from 0; its duplicates, or -1: its device is not configured and it is refused),
--           list of (number of a run that asked; its device's latest span before, or -1), turn in which this was stored,
--           list of numbers of runs that were stored without marks, since there are too many,
--           list of numbers of runs for which older held fixes were discarded };
--         false, and nothing has changed: the list is not as it was read, or the lease was lost.
--
-- A run is what one frame leaves behind for one place:
--   u8   kind: 'L' a lane; 'U', 'N', 'C', 'S' held: unknown device, no route, clock, off the track; in lower case: of unproven senders
--   u8   length, then name of the lane or device
--   u8   length, then of a lane the name of the string of marks `<device>:<span>`, without marks `<device>:`; of what is held
--        when it is looked at again, ms, and the version of the roster by which it is held
--   u8   flags: 1 look up first, 2 keep the marks for the whole window, 4 ask for the device's latest span
--   u16  number of records, then the records; the first byte of each is its length
local schedule, custody, lane_prefix, held_prefix, marks_prefix, unkeyed_prefix, mark_expiries, mark_bytes,
  held_fixes, roster_version, latest_spans, storing, parked, ahead, releasing, list, index = unpack(KEYS)
local group, lane_delay, gateway, known_turn, keep_ms, most_mark_bytes, all_marks, all_unkeyed = unpack(ARGV, 1, 8)
local most_of_unknown, most_unknown = tonumber(ARGV[9]), tonumber(ARGV[10])
local most_of_configured, most_held = tonumber(ARGV[11]), tonumber(ARGV[12])
local first_counter, last_counter = 14, 13 + 2 * ARGV[13]
local name, token = ARGV[last_counter + 1], ARGV[last_counter + 2]
local first_entry = last_counter + 3

local byte, sub = string.byte, string.sub
local MARK = 6
-- In the second byte of a record: see record.ts.
local IS_UTC = 8
-- Bytes: marks of a string; marks of a device, as they are accounted for.
local MOST_OF_SPAN, MOST_OF_DEVICE = 4096 * MARK, 4194304
local LANE = byte('L')
local REASONS = { U = 'unknown', N = 'no_route', C = 'clock', S = 'suspicious' }

-- Whether the entries that leave are as they were read, and the lease of their lane holds.
local function unchanged()
  if token ~= '' and not holds(index, name, token) then return false end
  for i = first_entry, #ARGV, 2 do
    if redis.call('LINDEX', list, ARGV[i]) ~= ARGV[i + 1] then return false end
  end
  return true
end

-- Takes the entries that leave out of their list. They are emptied first: so positions stay as they were read.
local function take_out()
  for i = first_entry, #ARGV, 2 do redis.call('LSET', list, ARGV[i], '') end
  local left = redis.call('LREM', list, (#ARGV - first_entry + 1) / 2, '')
  if sub(index, 1, #held_prefix) == held_prefix then redis.call('DECRBY', held_fixes, left) end
  if redis.call('EXISTS', list) == 1 then return end
  redis.call('ZREM', index, name)
  if token ~= '' then
    redis.call('HDEL', parked, name)
    redis.call('HDEL', ahead, name)
  end
end

-- The turn in which this is stored: a new one where another gateway has stored last.
local function turn_of(gateway)
  local turn = redis.call('GET', storing) or ''
  if sub(turn, 1, #gateway) ~= gateway then
    turn = gateway .. ' ' .. time[1] .. '.' .. time[2]
    redis.call('SET', storing, turn)
  end
  return turn
end

-- A text with its length in front, and the position behind it.
local function text_at(at)
  local behind = at + 1 + byte(group, at)
  return sub(group, at + 1, behind - 1), behind
end

-- A run, and the position of the next one. The marks are in the order of the runs that have some.
local next_mark = 1
local function run_at(at)
  local place, behind_place = text_at(at + 1)
  local text, behind_name = text_at(behind_place)
  local flags, high, low = byte(group, behind_name, behind_name + 2)
  local count, behind = high * 256 + low, behind_name + 3
  local marks, unkeyed = '', ''
  if byte(group, at) == LANE then
    local first_mark = next_mark
    next_mark = first_mark + count * MARK
    marks, unkeyed = sub(all_marks, first_mark, next_mark - 1), sub(all_unkeyed, first_mark, next_mark - 1)
  end
  local records = {}
  for i = 1, count do
    local first = behind
    behind = behind + byte(group, first)
    records[i] = sub(group, first, behind - 1)
  end
  return {
    kind = byte(group, at), place = place, marks_name = text, look = text, flags = flags, marks = marks,
    unkeyed = unkeyed, records = records,
  }, behind
end

-- Whether a mark is among others: where it begins at a multiple of its length.
local function among(marks, mark)
  local at = string.find(marks, mark, 1, true)
  while at and at % MARK ~= 1 do at = string.find(marks, mark, at + 1, true) end
  return at
end

-- The records whose marks are not known, and their marks. `known_unkeyed`: of version 0.1.0, or false.
local function without_known(run, known, known_unkeyed)
  local new_records, new_marks = {}, {}
  for i, record in ipairs(run.records) do
    local first, last = (i - 1) * MARK + 1, i * MARK
    local mark = sub(run.marks, first, last)
    local is_known = known and among(known, mark) or known_unkeyed and among(known_unkeyed, sub(run.unkeyed, first, last))
    if not is_known then
      new_records[#new_records + 1] = record
      new_marks[#new_marks + 1] = mark
    end
  end
  return new_records, table.concat(new_marks)
end

local function latest_span(device)
  return tonumber(redis.call('HGET', latest_spans, device) or -1)
end

-- Accounts for bytes of marks of a device.
local function account(device, bytes)
  redis.call('HINCRBY', mark_bytes, device, bytes)
  redis.call('HINCRBY', mark_bytes, '', bytes)
end

-- Keeps a string of marks for the whole window, and notes its span where it is the device's latest.
local function keep(marks_name)
  local device, span = string.match(marks_name, '^(.*):(%d+)$')
  if redis.call('ZADD', mark_expiries, now + keep_ms, marks_name) == 1 then
    account(device, marks_size(redis.call('STRLEN', marks_prefix .. marks_name)))
  end
  if tonumber(span) > latest_span(device) then redis.call('HSET', latest_spans, device, span) end
end

-- Whether a device may have more marks.
local function has_room(device)
  local own, all = unpack(redis.call('HMGET', mark_bytes, device, ''))
  return tonumber(own or 0) < MOST_OF_DEVICE and tonumber(all or 0) < tonumber(most_mark_bytes)
end

-- A string of marks grew beyond what is accounted for: accounts for it, or takes the new marks away where there would be
-- too many. Answers whether they may stay.
local function admit(run, key, before, length)
  local device = string.match(run.marks_name, '^(.*):')
  if length <= MOST_OF_SPAN and has_room(device) then
    if before > 0 then account(device, marks_size(length) - marks_size(before)) end
    return true
  end
  if before == 0 then
    redis.call('DEL', key)
  else
    redis.call('SET', key, redis.call('GETRANGE', key, 0, before - 1))
  end
  return false
end

-- The records of a run that are no duplicates, and whether their marks could be stored.
local function new_records(run, look_up_all)
  local key, records, marks = marks_prefix .. run.marks_name, run.records, run.marks
  if look_up_all or run.flags % 2 == 1 then
    local known = redis.call('GET', key)
    local known_unkeyed = #run.unkeyed > 0 and redis.call('GET', unkeyed_prefix .. run.marks_name)
    if known or known_unkeyed then records, marks = without_known(run, known, known_unkeyed) end
  end
  local length = #marks > 0 and redis.call('APPEND', key, marks) or 0
  local before = length - #marks
  local has_grown = length > 0 and (before == 0 or length > marks_capacity(before))
  if has_grown and not admit(run, key, before, length) then return records, false end
  if length > 0 and before == 0 or run.flags % 4 >= 2 then keep(run.marks_name) end
  return records, true
end

-- The held fixes of a device for a reason: those of proven and of unproven senders have lists of their own.
local function held_lists(reason, place)
  local proven = { devices = held_prefix .. reason, list = held_prefix .. reason .. ':' .. place }
  local unproven = { devices = held_prefix .. reason .. '~', list = held_prefix .. reason .. '~:' .. place }
  for _, each in ipairs({ proven, unproven }) do each.length = redis.call('LLEN', each.list) end
  return proven, unproven
end

-- Whether a device that is not configured has no place for more fixes.
local function is_refused(proven, unproven, own, more)
  local length = proven.length + unproven.length
  if length + more > most_of_unknown or tonumber(redis.call('GET', held_fixes) or 0) + more > most_held then return true end
  if length > 0 then return false end
  local of_unproven = redis.call('ZCARD', unproven.devices)
  if own == unproven and of_unproven * 2 >= most_unknown then return true end
  return redis.call('ZCARD', proven.devices) + of_unproven >= most_unknown
end

-- Discards the oldest of a list of held fixes, `most` of them. Answers how many.
local function discard_oldest(held, most, place)
  local number = math.max(0, math.min(most, held.length))
  if number == 0 then return 0 end
  redis.call('LTRIM', held.list, number, -1)
  if number == held.length then redis.call('ZREM', held.devices, place) end
  redis.call('DECRBY', held_fixes, number)
  return number
end

-- Whether some devices are being released, and fixes that arrive go behind their held ones.
local some_releasing = list == nil and redis.call('EXISTS', releasing) == 1

-- A run of a lane as it is to be stored: held, as in UTC, where older fixes of its device are being released.
local function behind_released(run)
  local device = string.match(run.marks_name, '^(.*):')
  if not redis.call('ZSCORE', releasing, same_id(device)) then return run end
  local records = {}
  for i, record in ipairs(run.records) do
    records[i] = sub(record, 1, 1) .. string.char(byte(record, 2) + IS_UTC) .. sub(record, 3)
  end
  return { kind = byte('N'), place = device, look = '0 ' .. (redis.call('GET', roster_version) or '0'), records = records }
end

-- Holds a run. Answers how many records are discarded, as the oldest of too many; nothing where it is refused.
local function hold(run)
  local letter, more, place = string.char(run.kind), #run.records, run.place
  local reason = REASONS[string.upper(letter)]
  local proven, unproven = held_lists(reason, place)
  local own = letter == string.upper(letter) and proven or unproven
  if reason == 'unknown' and is_refused(proven, unproven, own, more) then return end
  local look_at, version = string.match(run.look, '^(%d+) (%d+)$')
  local latest_version = redis.call('GET', roster_version) or '0'
  -- A gateway that lags behind the roster may have held what has a route by now.
  if version ~= latest_version then
    redis.call('ZADD', releasing, 'GT', latest_version, same_id(place))
    some_releasing = list == nil
  end
  own.length = redis.call('RPUSH', own.list, unpack(run.records))
  redis.call('ZADD', own.devices, 'LT', look_at, place)
  local all = redis.call('INCRBY', held_fixes, more)
  if reason == 'unknown' then return 0 end
  local over = math.max(proven.length + unproven.length - most_of_configured, math.min(all - most_held, more))
  local discarded = discard_oldest(unproven, over, place)
  return discarded + discard_oldest(proven, over - discarded, place)
end

local function count(field, amount)
  if amount ~= 0 then redis.call('HINCRBY', custody, field, amount) end
end

local function note(answers, number, value)
  answers[#answers + 1] = number
  answers[#answers + 1] = value
end

local function append()
  for i = first_counter, last_counter, 2 do count(ARGV[i], ARGV[i + 1]) end
  local turn = gateway == '' and '' or turn_of(gateway)
  local look_up_all = turn ~= known_turn
  local due = string.format('%.0f', now + lane_delay)
  -- `begun`: score and name of the lanes that were empty.
  local left_out, latest, begun, unmarked, full = {}, {}, {}, {}, {}
  local duplicates, overflowed, refused = 0, 0, 0
  local at, number, run = 1, 0, nil
  while at <= #group do
    run, at = run_at(at)
    if some_releasing and run.kind == LANE then run = behind_released(run) end
    if run.kind == LANE then
      if run.flags >= 4 then note(latest, number, latest_span(string.match(run.marks_name, '^(.*):'))) end
      local records, is_marked = run.records, true
      if gateway ~= '' then records, is_marked = new_records(run, look_up_all) end
      if not is_marked then unmarked[#unmarked + 1] = number end
      local known = #run.records - #records
      if known > 0 then note(left_out, number, known) end
      duplicates = duplicates + known
      if #records > 0 and redis.call('RPUSH', lane_prefix .. run.place, unpack(records)) == #records then
        note(begun, due, run.place)
      end
    else
      local discarded = hold(run)
      if not discarded then note(left_out, number, -1) end
      if discarded and discarded > 0 then full[#full + 1] = number end
      overflowed = overflowed + (discarded or 0)
      refused = refused + (discarded and 0 or #run.records)
    end
    number = number + 1
  end
  -- As many at once as Lua can hand over.
  for i = 1, #begun, 2000 do
    redis.call('ZADD', schedule, 'NX', unpack(begun, i, math.min(i + 1999, #begun)))
  end
  count('filtered:duplicate', duplicates)
  count('discarded:held_overflow', overflowed)
  count('received', -refused)
  return { left_out, latest, turn, unmarked, full }
end

local function move()
  if not unchanged() then return false end
  take_out()
  return append()
end
