-- Appends to devices' lists of events; the last of each list are kept. What is there already is left out: an event that comes
-- again, and one that says the same as the latest before it, connections aside. So two gateways tell of a change once.
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

-- Those of ARGV[from] to ARGV[to] that the list does not have: behind the first of them there is none that it has.
local function missing(key, from, to)
  local latest = latest_change(key, -3, -1)
  local events = {}
  for i = from, to do
    local said = change(ARGV[i])
    local repeated = said and said == latest
    if not repeated and (#events > 0 or not redis.call('LPOS', key, ARGV[i])) then events[#events + 1] = ARGV[i] end
    latest = said or latest
  end
  return events
end

local at = 3
while at <= #ARGV do
  local key = KEYS[1] .. ARGV[at]
  local last = at + 1 + ARGV[at + 1]
  local events = missing(key, at + 2, last)
  if #events > 0 and redis.call('RPUSH', key, unpack(events)) > tonumber(ARGV[1]) then
    redis.call('LTRIM', key, -ARGV[1], -1)
  end
  redis.call('EXPIRE', key, ARGV[2])
  at = last + 1
end
