-- Notes on devices: their records and their events.

-- A record is a JSON object of four or five lines: the contact, the last fix, the last filtered fix, what the tracker says beside
-- its positions, the usual intervals. Each but the first may be empty; the fourth of five is left out if the tracker says nothing.
-- Before there were records, there was only the first.
local function lines(record)
  local first = string.find(record, '\n', 1, true)
  if not first then return string.sub(record, 1, -2), '', '', '', '}' end
  local second = string.find(record, '\n', first + 1, true)
  local third = string.find(record, '\n', second + 1, true)
  local fourth = string.find(record, '\n', third + 1, true) or third
  return string.sub(record, 1, first - 1),
    string.sub(record, first + 1, second - 1),
    string.sub(record, second + 1, third - 1),
    string.sub(record, third + 1, fourth - 1),
    string.sub(record, fourth + 1)
end

-- Returns the line that counts: the new one, unless it is empty or the known one has a later time. A time in the future comes
-- from a gateway whose clock is wrong, and does not count. `from`: where the 13 digits of the time begin.
local function latest(known, new, from)
  if new == '' then return known end
  if known == '' then return new end
  local at = string.sub(known, from, from + 12)
  return at > string.sub(new, from, from + 12) and (tonumber(at) or math.huge) <= now and known or new
end

-- Merges news of a state: keeps the first time of its value, and the last time of another value, like `lasting` of said.ts.
local function lasting(before, part)
  local other_at = part.other_at or 0
  if part.value ~= before.value then
    part.other_at = math.max(other_at, before.at)
  elseif other_at <= before.at then
    part.since_at, part.other_at = before.since_at, before.other_at
  end
  return part
end

-- Merges a later alarm: keeps the first time of alarms within ten minutes of one another, like `repeated` of said.ts.
local function repeated(before, part)
  if part.since_at - before.at < 600000 then part.since_at = before.since_at or before.at end
  return part
end

-- What a tracker says, with what is new in it, as in `mergedSaid` of said.ts: of each value the later one counts, unless its time
-- is still to come, and what is said again lasts since its first time; an alarm of the same time is the same one. What cannot be
-- read is replaced. 9: where the object begins behind `,"said":`.
local function merged_said(known, new)
  if known == '' or new == '' then return known .. new end
  local is_readable, parts = pcall(cjson.decode, string.sub(known, 9))
  if not is_readable then return new end
  for name, part in pairs(cjson.decode(string.sub(new, 9))) do
    local before = parts[name]
    local is_alarm = string.sub(name, 1, 6) == 'alarm:'
    if not before or before.at > now then
      parts[name] = part
    elseif is_alarm and part.at > before.at then
      parts[name] = repeated(before, part)
    elseif not is_alarm and part.at >= before.at then
      parts[name] = part.since_at and lasting(before, part) or part
    end
  end
  return ',"said":' .. cjson.encode(parts)
end

-- Whether a record can be replaced as a whole: it has only a contact and a fix of the same time or earlier, and the new fix
-- is later. This holds for most devices, and is twice as fast.
local function is_replaced(record, news)
  if string.sub(record, -3) ~= '\n\n}' then return false end
  local fix = string.find(news, '\n,"fix"', 20, true)
  return fix and string.sub(record, 7, 19) <= string.sub(news, fix + 14, fix + 26)
end

-- Returns a record with its news; nil if there is no contact, because the device was never heard or was forgotten in between.
local function renewed(record, news)
  if record and is_replaced(record, news) then return news end
  local contact, fix, filtered, said, usual = lines(news)
  if record then
    local known_contact, known_fix, known_filtered, known_said, known_usual = lines(record)
    contact = latest(known_contact, contact, 7)
    fix = latest(known_fix, fix, 14)
    filtered = latest(known_filtered, filtered, 19)
    said = merged_said(known_said, said)
    if said ~= '' then said = said .. '\n' end
    if usual == '}' then usual = known_usual end
    news = contact .. '\n' .. fix .. '\n' .. filtered .. '\n' .. said .. usual
  end
  return contact ~= '' and news or nil
end

-- The text of an event without its time; nil for an event of a connection.
local function change(event)
  local said = string.match(event, '^{"at":%d+,"event":"(.*)$')
  if said and not string.find(said, '^%a*connected"') then return said end
end

-- Returns the events of ARGV, between two indexes, that a list lacks.
local function missing(list, from, to)
  local known, latest_change, new_events = {}, nil, {}
  for _, event in ipairs(list) do
    known[event] = true
    latest_change = change(event) or latest_change
  end
  -- When a call is repeated, the events of its first run come first, and the latest of them are still in the list.
  local first = to + 1
  while first > from and not known[ARGV[first - 1]] do first = first - 1 end
  for i = first, to do
    local said = change(ARGV[i])
    if not said or said ~= latest_change then new_events[#new_events + 1] = ARGV[i] end
    latest_change = said or latest_change
  end
  return new_events
end

-- Drops the oldest events of a list: connections if they are more than half of the kept events, else changes.
local function trim(key, kept)
  local events = redis.call('LRANGE', key, 0, -1)
  local connections, changes = {}, {}
  for _, event in ipairs(events) do table.insert(change(event) and changes or connections, event) end
  for _ = kept + 1, #events do
    redis.call('LREM', key, 1, table.remove(#connections > kept / 2 and connections or changes, 1))
  end
end

-- Appends events, which are between two indexes of ARGV, to the list of a device.
local function append(key, from, to)
  local kept, seconds = tonumber(ARGV[2]), ARGV[3]
  local new_events = missing(redis.call('LRANGE', key, 0, -1), from, to)
  if #new_events > 0 and redis.call('RPUSH', key, unpack(new_events)) > kept then trim(key, kept) end
  redis.call('EXPIRE', key, seconds)
end

-- Writes what is new of devices into their records, appends to their events, and says in the stream of changes which devices
-- these are. Of the events the last are kept, so that neither connections nor changes take more than half from the others.
-- An event that comes again is left out, and one that says the same as the latest change before it: so two gateways tell of a
-- change once. All records are read in one call and written in another: a call for each costs three times as much. A record that
-- cannot be read is replaced, so that the other devices are noted.
-- ARGV  how many changes are kept; how many events, for how many seconds; the ids of the devices, JSON; how many there are; each id;
--       for each: its new lines; how many events, each of them: JSON, `at` first
local function note_devices()
  local devices, events_prefix, changes = unpack(KEYS)
  local changes_kept, names, count = ARGV[1], ARGV[4], tonumber(ARGV[5])
  local records = redis.call('HMGET', devices, unpack(ARGV, 6, 5 + count))
  local written, at = {}, 6 + count
  for i = 1, count do
    local device, last = ARGV[5 + i], at + 1 + ARGV[at + 1]
    local is_readable, record = pcall(renewed, records[i], ARGV[at])
    if not is_readable then record = renewed(nil, ARGV[at]) end
    if record then
      written[#written + 1] = device
      written[#written + 1] = record
    end
    if last > at + 1 then append(events_prefix .. device, at + 2, last) end
    at = last + 1
  end
  if #written > 0 then redis.call('HSET', devices, unpack(written)) end
  redis.call('XADD', changes, 'MAXLEN', '~', changes_kept, '*', 'devices', names)
end

-- Deletes the record and the events of a device, and says so in the stream of changes. Answers how many there were.
-- ARGV  how many changes are kept; the device; the same as a JSON list
local function forget_record()
  local devices, events, changes = unpack(KEYS)
  local gone = redis.call('HDEL', devices, ARGV[2]) + redis.call('DEL', events)
  redis.call('XADD', changes, 'MAXLEN', '~', ARGV[1], '*', 'devices', ARGV[3])
  return gone
end
