-- Parks a lane whole: it keeps its records and its place in the schedule, where one record is tried after 15 s, 30 s, 60 s,
-- then every 5 minutes.
-- KEYS  schedule, push of the lane, parked
-- ARGV  lane, token, status, the answer's text
-- Answers 1; false: the lease was lost.
local DELAYS = { 15000, 30000, 60000, 300000 }
if tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1]) or -1) ~= tonumber(ARGV[2]) then return false end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local before = redis.call('HGET', KEYS[3], ARGV[1])
local tries = before and cjson.decode(before).tries + 1 or 1
redis.call('HSET', KEYS[3], ARGV[1], cjson.encode({
  status = tonumber(ARGV[3]), message = ARGV[4], tries = tries, at = now, since = before and cjson.decode(before).since or now,
}))
redis.call('ZADD', KEYS[1], 'XX', now + DELAYS[math.min(tries, #DELAYS)], ARGV[1])
redis.call('SET', KEYS[2], now .. ':' .. ARGV[3] .. ':0', 'EX', 86400)
return 1
