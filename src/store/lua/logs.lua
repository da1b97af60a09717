-- Scripts for what is logged in Redis: the events of each device, and the audit log.

-- The text of an event without its time; nil for an event of a connection.
local function change(event)
  local said = string.match(event, '^{"at":%d+,"event":"(.*)$')
  if said and not string.find(said, '^%a*connected"') then return said end
end

-- The events of ARGV, between two indexes, that are to be appended to a list.
local function missing(list, from, to)
  local known, latest, new_events = {}, nil, {}
  for _, event in ipairs(list) do
    known[event] = true
    latest = change(event) or latest
  end
  -- When a call is repeated, the events that it wrote before are the first ones, and the latest of them are still in
  -- the list.
  local first = to + 1
  while first > from and not known[ARGV[first - 1]] do first = first - 1 end
  for i = first, to do
    local said = change(ARGV[i])
    if not said or said ~= latest then new_events[#new_events + 1] = ARGV[i] end
    latest = said or latest
  end
  return new_events
end

-- Drops the oldest events of a list: those of connections if they are more than half of what is kept, else changes.
local function trim(key, kept)
  local events = redis.call('LRANGE', key, 0, -1)
  local connections, changes = {}, {}
  for _, event in ipairs(events) do table.insert(change(event) and changes or connections, event) end
  for _ = kept + 1, #events do
    redis.call('LREM', key, 1, table.remove(#connections > kept / 2 and connections or changes, 1))
  end
end

-- Appends to the events of devices, and keeps the last of each, so that neither connections nor changes take more than half
-- from the others. An event that comes again is left out, and one that says the same as the latest change before it: so two
-- gateways tell of a change once.
-- ARGV  how many are kept, for how many seconds; for each device: its id, how many events, each of them: JSON, `at` first
local function events()
  local prefix, kept, seconds = KEYS[1], tonumber(ARGV[1]), ARGV[2]
  local at = 3
  while at <= #ARGV do
    local key, last = prefix .. ARGV[at], at + 1 + ARGV[at + 1]
    local new_events = missing(redis.call('LRANGE', key, 0, -1), at + 2, last)
    if #new_events > 0 and redis.call('RPUSH', key, unpack(new_events)) > kept then trim(key, kept) end
    redis.call('EXPIRE', key, seconds)
    at = last + 1
  end
end

local function audit()
  local log = KEYS[1]
  local kept, entry = unpack(ARGV)
  redis.call('XADD', log, 'MAXLEN', '=', kept, '*', 'entry', entry)
end
