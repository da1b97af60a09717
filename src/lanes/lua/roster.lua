-- A write to the roster. Its time is that of Redis' own clock; no two are at the same time.
-- KEYS: time of the last write, hash that is written.
-- ARGV: how many fields are set; '' or the last write that the caller knows of: where there was another since, nothing is
-- written; each field with its value, in order; the fields that go. In front of a field that begins with a space, and of each
-- value, is the time of the write. '' is the time alone, of the first who says so, which 'gone' leaves, with the time of the
-- write behind it: a field keeps its time until it is set again after it was gone. One that is not gone does not go.
-- Answers with the time, ms UTC; where nothing has changed, with that of the last write; false: there was another since.
local now = redis.call('TIME')
local last = redis.call('GET', KEYS[1]) or '0'
if ARGV[2] ~= '' and ARGV[2] ~= last then
  return false
end
local at = string.format('%.0f', math.max(now[1] * 1000 + math.floor(now[2] / 1000), tonumber(last) + 1))

-- Whether a field is a time alone.
local function stays(field)
  return not string.find(redis.call('HGET', KEYS[2], field) or ' ', ' ', 1, true)
end

local values = 2 * tonumber(ARGV[1])
local changed = 0
for arg = 3, values + 1, 2 do
  local field = string.sub(ARGV[arg], 1, 1) == ' ' and at .. ARGV[arg] or ARGV[arg]
  local value = at .. ' ' .. ARGV[arg + 1]
  if ARGV[arg + 1] == '' then
    value = not stays(field) and at
  elseif ARGV[arg + 1] == 'gone' then
    value = stays(field) and redis.call('HGET', KEYS[2], field) .. ' gone ' .. at
  end
  if value then
    redis.call('HSET', KEYS[2], field, value)
    changed = changed + 1
  end
end
for arg = values + 3, #ARGV do
  if not stays(ARGV[arg]) then changed = changed + redis.call('HDEL', KEYS[2], ARGV[arg]) end
end
if changed == 0 then
  return last
end
redis.call('SET', KEYS[1], at)
return at
