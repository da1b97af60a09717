-- Ends a lease after a failure that may pass: the lane is due again after a delay that doubles with each failure in a row.
-- KEYS  schedule, push of the lane
-- ARGV  lane, token, status, first delay in ms, longest delay in ms, jitter in 0..1, least delay in ms that the service asked for
-- Answers the delay in ms; false: the lease was lost.
if tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1]) or -1) ~= tonumber(ARGV[2]) then return false end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local attempts = tonumber(string.match(redis.call('GET', KEYS[2]) or '', ':(%d+)$') or 0) + 1
local delay = math.min(tonumber(ARGV[5]), ARGV[4] * 2 ^ math.min(attempts - 1, 30))
delay = math.floor(math.max(delay * (0.5 + ARGV[6] / 2), tonumber(ARGV[7])))
redis.call('ZADD', KEYS[1], 'XX', now + delay, ARGV[1])
redis.call('SET', KEYS[2], now .. ':' .. ARGV[3] .. ':' .. attempts, 'EX', 86400)
return delay
