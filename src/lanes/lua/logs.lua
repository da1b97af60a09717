-- Scripts for what is logged in Redis: the events of each device, and the audit log.

-- Whether an event is a change of its device (not of a connection): then what it says, without its time.
local function change(event)
  local _, _, said = string.find(event, '^{"at":%d+,"event":"(.*)$')
  if said and not string.find(said, '^%a*connected"') then return said end
end

-- The latest change in a list; mostly it is among the last few.
local function latest_change(key, from, to)
  local events = redis.call('LRANGE', key, from, to)
  for i = #events, 1, -1 do
    local said = change(events[i])
    if said then return said end
  end
  if to == -1 and #events == -from then return latest_change(key, 0, from - 1) end
end

-- The index in ARGV, between two others, of the first event that the list does not have. Events that come again stand in
-- front; all of these, or the last ones, are still in the list.
local function first_new(key, from, to)
  for i = to, from, -1 do
    if redis.call('LPOS', key, ARGV[i]) then return i + 1 end
  end
  return from
end

-- The events of ARGV, between two indexes, that are to be appended to the list.
local function missing(key, from, to)
  local latest = latest_change(key, -3, -1)
  local events = {}
  for i = first_new(key, from, to), to do
    local said = change(ARGV[i])
    if not said or said ~= latest then events[#events + 1] = ARGV[i] end
    latest = said or latest
  end
  return events
end

-- Drops the oldest of a list: connections where they are more than half of what is kept, else changes.
local function trim(key, kept)
  local events = redis.call('LRANGE', key, 0, -1)
  local connections, changes = {}, {}
  for _, event in ipairs(events) do table.insert(change(event) and changes or connections, event) end
  for _ = kept + 1, #events do
    redis.call('LREM', key, 1, table.remove(#connections > kept / 2 and connections or changes, 1))
  end
end

-- Appends to the events of devices; of each list the last ones are kept, so that neither connections nor changes take more
-- than half of it from the others. An event that comes again is left out, and one that says the same as the latest before it,
-- connections aside: so two gateways tell of a change once.
-- KEYS  prefix of the lists
-- ARGV  how many are kept, for how many seconds; for each device: its id, how many events, each of them: JSON, `at` first
local function events()
  local prefix, kept, seconds = KEYS[1], tonumber(ARGV[1]), ARGV[2]
  local at = 3
  while at <= #ARGV do
    local key, last = prefix .. ARGV[at], at + 1 + ARGV[at + 1]
    local new_events = missing(key, at + 2, last)
    if #new_events > 0 and redis.call('RPUSH', key, unpack(new_events)) > kept then trim(key, kept) end
    redis.call('EXPIRE', key, seconds)
    at = last + 1
  end
end

-- Adds an entry to the audit log, and drops the oldest beyond what is kept.
-- KEYS  audit
-- ARGV  how many are kept, the entry
local function audit()
  local log, kept, entry = KEYS[1], ARGV[1], ARGV[2]
  redis.call('XADD', log, 'MAXLEN', '=', kept, '*', 'entry', entry)
end

