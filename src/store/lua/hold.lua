-- Part of store.lua: held fixes.
local REASONS = { U = 'unknown', N = 'no_route', C = 'clock', S = 'suspicious' }
-- In the second byte of a record: see ../record.ts.
local IS_UTC = 8

-- The held fixes of a device for a reason: those of proven and of unproven senders have lists of their own.
local function held_lists(reason, place)
  local proven = { devices = held_prefix .. reason, list = held_prefix .. reason .. ':' .. place }
  local unproven = { devices = held_prefix .. reason .. '~', list = held_prefix .. reason .. '~:' .. place }
  for _, each in ipairs({ proven, unproven }) do each.length = redis.call('LLEN', each.list) end
  return proven, unproven
end

-- Whether an unconfigured device has no place for more fixes: the second half of the memory is for configured devices.
local function is_refused(proven, unproven, own, more)
  local length = proven.length + unproven.length
  if length + more > most_of_unknown or 2 * (tonumber(redis.call('GET', held_fixes) or 0) + more) > most_held then return true end
  if length > 0 then return false end
  local of_unproven = redis.call('ZCARD', unproven.devices)
  if own == unproven and of_unproven * 2 >= most_unknown then return true end
  return redis.call('ZCARD', proven.devices) + of_unproven >= most_unknown
end

-- Discards the `most` oldest entries of a list of held fixes. Answers how many.
local function discard_oldest(held, most, place)
  local number = math.max(0, math.min(most, held.length))
  if number == 0 then return 0 end
  redis.call('LTRIM', held.list, number, -1)
  if number == held.length then redis.call('ZREM', held.devices, place) end
  redis.call('DECRBY', held_fixes, number)
  return number
end

-- True while held fixes of some devices are being released; new fixes of these devices are then queued behind them.
local some_releasing = list == nil and redis.call('EXISTS', releasing) == 1

-- Returns a run as it is stored while some devices are released: one for a lane goes behind the older fixes of its device, in
-- UTC. Fixes that are ahead of the clock are refused (`is_refused`), and the device sends them again: if they were held,
-- newer fixes of the device, which are held in another list, could leave before them. A run of an unproven sender stays
-- unproven: it displaces no fix that came over a connection.
local function behind_released(run)
  local device = run.is_lane and string.match(run.marks_name, '^(.*):') or run.place
  if not redis.call('ZSCORE', releasing, same_id(device)) then return run end
  run.is_refused = string.upper(run.kind) == 'C'
  if not run.is_lane then return run end
  local records = run.records
  for i, record in ipairs(records) do
    records[i] = sub(record, 1, 1) .. string.char(byte(record, 2) + IS_UTC) .. sub(record, 3)
  end
  return {
    kind = run.kind == 'L' and 'N' or 'n', place = device, look = '0 ' .. (redis.call('GET', roster_version) or '0'), records = records,
    logs = string.match(run.logs, WITHOUT_ROUTE) or '', own_length = run.own_length, head = run.head,
  }
end

-- Holds a run. Answers how many records are discarded as the oldest of too many; nothing if the run is refused.
local function hold(run)
  if run.is_refused then return end
  local letter, more, place = run.kind, #run.records, run.place
  local reason = REASONS[string.upper(letter)]
  local proven, unproven = held_lists(reason, place)
  local own = letter == string.upper(letter) and proven or unproven
  if reason == 'unknown' and is_refused(proven, unproven, own, more) then return end
  local look_at, version = string.match(run.look, '^(%d+) (%d+)$')
  local latest_version = redis.call('GET', roster_version) or '0'
  -- A gateway with an outdated roster may have held fixes that have a route by now.
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
