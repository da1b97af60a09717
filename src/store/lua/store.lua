-- Stores a group of records: those that are new (append), or those that leave another list in the same step (move).
-- KEYS  as named; of a move then `list`, and `index`, the zset that has the list's name while it is not empty
-- ARGV  group, a sequence of runs; ms until a lane that was empty is due; the gateway that stores and its turn as it knows
--       it (see duplicates.ts; '': no duplicates are looked for); ms for which marks are kept; bytes that the marks of all
--       devices may take; the marks of all records of runs with a string of marks, 6 bytes each; most held fixes of a device that is not configured; most of these devices; most held fixes of a
--       configured device for a reason; most held fixes in all; number of counters; name and amount of
--       each. Of a move then: the list's name in its index, the token of the lease where the list is a lane's own, else '',
--       chunks of the fixes that are withdrawn from the lane (kept.lua); of each entry that leaves its position in the list,
--       from 0, and the entry as it was read there
-- Answers { list of (number of a run, from 0; its duplicates, or -1: it is refused),
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
--   u8   length, then the names of the logs for copies to which its fixes are written, with a space between; if there are any:
--        u8 length of a record without what only the logs keep of it, which follows there; u8 length, then the head of a section
--   u8   flags: 1 look up first, 2 keep the marks for the whole window, 4 ask for the device's latest span
--   u16  number of records, then the records; the first byte of each is its length
local schedule, custody, lane_prefix, held_prefix, marks_prefix, mark_expiries, mark_bytes,
  held_fixes, roster_version, latest_spans, storing, parked, ahead, releasing, clock,
  copied_prefix, copied_entries, copied_fixes, kept_prefix, kept_hours, list, index = unpack(KEYS)
local group, lane_delay, gateway, known_turn, keep_ms, most_mark_bytes, all_marks = unpack(ARGV, 1, 7)
local most_of_unknown, most_unknown = tonumber(ARGV[8]), tonumber(ARGV[9])
local most_of_configured, most_held = tonumber(ARGV[10]), tonumber(ARGV[11])
local first_counter, last_counter = 13, 12 + 2 * ARGV[12]
local name, token, withdrawn, first_entry = ARGV[last_counter + 1], ARGV[last_counter + 2], ARGV[last_counter + 3], last_counter + 4

local byte, sub = string.byte, string.sub

-- include duplicates

-- Whether the entries to move are still as they were read, and the lease of their lane still holds.
local function unchanged()
  if token ~= '' and not holds(index, name, token) then return false end
  for i = first_entry, #ARGV, 2 do
    if redis.call('LINDEX', list, ARGV[i]) ~= ARGV[i + 1] then return false end
  end
  return true
end

-- Removes the moved entries from their list. Empties them first, so that the positions of the others stay the same.
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

-- Returns the turn of this call: a new one if another gateway stored last.
local function turn_of(gateway)
  local turn = redis.call('GET', storing) or ''
  if sub(turn, 1, #gateway) ~= gateway then
    turn = gateway .. ' ' .. time[1] .. '.' .. time[2]
    redis.call('SET', storing, turn)
  end
  return turn
end

-- The run at a position, and the position of the next run. The marks are in the order of the runs that have marks.
local next_mark = 1
local function run_at(at)
  local kind, place, text, logs, behind = struct.unpack('>c1Bc0Bc0Bc0', group, at)
  local own_length, head, flags, count
  if logs ~= '' then own_length, head, behind = struct.unpack('>BBc0', group, behind) end
  flags, count, behind = struct.unpack('>BI2', group, behind)
  local is_lane = kind == 'L' or kind == 'l'
  local marks = ''
  if is_lane then
    local first_mark = next_mark
    next_mark = first_mark + count * MARK
    marks = sub(all_marks, first_mark, next_mark - 1)
  end
  local records = {}
  for i = 1, count do
    local first = behind
    behind = behind + byte(group, first)
    records[i] = sub(group, first, behind - 1)
  end
  return {
    kind = kind, is_lane = is_lane, place = place, marks_name = text, look = text, flags = flags, marks = marks,
    records = records, logs = logs, own_length = own_length, head = head,
  }, behind
end

-- include copied
-- include hold

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
  -- `begun`: scores and names of the lanes that were empty.
  local left_out, latest, begun, unmarked, full = {}, {}, {}, {}, {}
  local duplicates, overflowed, refused = 0, 0, 0
  local at, number, run = 1, 0, nil
  while at <= #group do
    run, at = run_at(at)
    if some_releasing then run = behind_released(run) end
    if run.is_lane then
      if run.flags >= 4 then note(latest, number, latest_span(string.match(run.marks_name, '^(.*):'))) end
      local records, is_marked = run.records, true
      if gateway ~= '' then records, is_marked = new_records(run, look_up_all) end
      if not is_marked then unmarked[#unmarked + 1] = number end
      local known = #run.records - #records
      if known > 0 then note(left_out, number, known) end
      duplicates = duplicates + known
      copy(run, records)
      records = own_records(run, records)
      if #records > 0 and redis.call('RPUSH', lane_prefix .. run.place, unpack(records)) == #records then
        note(begun, due, run.place)
      end
    else
      local records = run.records
      run.records = own_records(run, records)
      local discarded = hold(run)
      if discarded then copy(run, records) else note(left_out, number, -1) end
      if discarded and discarded > 0 then full[#full + 1] = number end
      overflowed = overflowed + (discarded or 0)
      refused = refused + (discarded and 0 or #run.records)
    end
    number = number + 1
  end
  write_copied()
  if #begun > 0 then note_clock(clock) end
  -- As many at once as Lua can hand over.
  for i = 1, #begun, 2000 do
    redis.call('ZADD', schedule, 'NX', unpack(begun, i, math.min(i + 1999, #begun)))
  end
  count('filtered:duplicate', duplicates)
  count('discarded:held_overflow', overflowed)
  count('received', -refused)
  return { left_out, latest, turn, unmarked, full }
end

-- include kept

local function move()
  if not unchanged() then return false end
  take_out()
  local kept = { prefix = kept_prefix, hours = kept_hours, counts = {} }
  keep(kept, '\254' .. name, withdrawn)
  count_kept(kept)
  return append()
end
