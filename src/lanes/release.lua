-- Tries a lane's parked records again: a parked lane is due at once, its refused records go to the end of the lane.
-- KEYS  schedule, lane's list, lane's refused, lanes with refused ones, parked
-- ARGV  lane
-- Answers how many records are tried again.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local list = KEYS[2]
local released = redis.call('HEXISTS', KEYS[5], ARGV[1]) == 1 and redis.call('LLEN', list) or 0

for _, entry in ipairs(redis.call('LRANGE', KEYS[3], 0, -1)) do
  local at = 5 + struct.unpack('>I4', entry)
  while at <= #entry do
    local length = string.byte(entry, at)
    redis.call('RPUSH', list, string.sub(entry, at, at + length - 1))
    at = at + length
    released = released + 1
  end
end
redis.call('DEL', KEYS[3])
redis.call('SREM', KEYS[4], ARGV[1])

local score = tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1]) or 0)
local leased = score % 1 ~= 0 and score > now
if released > 0 and not leased then redis.call('ZADD', KEYS[1], now, ARGV[1]) end
return released
