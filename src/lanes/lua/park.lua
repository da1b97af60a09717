-- Parks a lane whole: it keeps its records and its place in the schedule, where one record is tried after 15 s, 30 s, 60 s,
-- then every 5 minutes.
-- KEYS  schedule, push of the lane, parked, upstream, failing lanes
-- ARGV  lane, token, status (0: it is our own reason), the answer's text
-- Answers 1; false: the lease was lost.
local DELAYS = { 15000, 30000, 60000, 300000 }
if not holds(KEYS[1], ARGV[1], ARGV[2]) then return false end
local before = redis.call('HGET', KEYS[3], ARGV[1])
before = before and cjson.decode(before) or { tries = 0, since = now }
local tries = before.tries + 1
redis.call('HSET', KEYS[3], ARGV[1], cjson.encode({
  status = tonumber(ARGV[3]), message = ARGV[4], tries = tries, at = now, since = before.since,
}))
redis.call('ZADD', KEYS[1], 'XX', now + DELAYS[math.min(tries, #DELAYS)], ARGV[1])
redis.call('SET', KEYS[2], now .. ':' .. ARGV[3] .. ':0', 'EX', 86400)
if ARGV[3] ~= '0' then
  answered(KEYS[4], KEYS[5])
elseif redis.call('HGET', KEYS[4], 'prober') == ARGV[1] then
  redis.call('HSET', KEYS[4], 'probe', now)
end
return 1
