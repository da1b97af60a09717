-- Appends to devices' lists of events; the last of each list are kept, so that neither connections nor changes take more than half
-- of it from the others. What is there already is left out: an event that comes again, and one that says the same as the latest
-- before it, connections aside. So two gateways tell of a change once.
-- KEYS  prefix of the lists
-- ARGV  how many are kept, for how many seconds; for each device: its id, how many events, each of them: JSON, `at` first
local function change(event)
  local _, _, said = string.find(event, '^{"at":%d+,"event":"(.*)$')
  if said and not string.find(said, '^%a*connected"') then return said end
end

-- The latest change of a list; mostly it is among the last few.
local function latest_change(key, from, to)
  local events = redis.call('LRANGE', key, from, to)
  for i = #events, 1, -1 do
    local said = change(events[i])
    if said then return said end
  end
  if to == -1 and #events == -from then return latest_change(key, 0, from - 1) end
end

-- Where in ARGV[from] to ARGV[to] those begin that did not come before; those that come again stand in front, all or the last of
-- them still in the list.
local function first_new(key, from, to)
  for i = to, from, -1 do
    if redis.call('LPOS', key, ARGV[i]) then return i + 1 end
  end
  return from
end

-- Those of ARGV[from] to ARGV[to] that the list does not have.
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

local kept = tonumber(ARGV[1])
local at = 3
while at <= #ARGV do
  local key = KEYS[1] .. ARGV[at]
  local last = at + 1 + ARGV[at + 1]
  local events = missing(key, at + 2, last)
  if #events > 0 and redis.call('RPUSH', key, unpack(events)) > kept then trim(key, kept) end
  redis.call('EXPIRE', key, ARGV[2])
  at = last + 1
end
