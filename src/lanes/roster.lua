-- A write to the roster. Its time is that of Redis' own clock; no two are at the same time.
-- KEYS: time of the last write, hash that is written.
-- ARGV: how many fields are set, each with its value, then the fields that go. A field '' is the time of the write; a value
-- has that time in front, and '' is the time alone.
-- Answers with the time, ms UTC.
local now = redis.call('TIME')
local last = tonumber(redis.call('GET', KEYS[1]) or '0')
local at = string.format('%.0f', math.max(now[1] * 1000 + math.floor(now[2] / 1000), last + 1))
local values = 2 * tonumber(ARGV[1])
for arg = 2, values, 2 do
  local field = ARGV[arg] == '' and at or ARGV[arg]
  local value = ARGV[arg + 1] == '' and at or at .. ' ' .. ARGV[arg + 1]
  redis.call('HSET', KEYS[2], field, value)
end
for arg = values + 2, #ARGV do
  redis.call('HDEL', KEYS[2], ARGV[arg])
end
redis.call('SET', KEYS[1], at)
return at
