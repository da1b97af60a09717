-- Ends a lease after a failure that may pass: the lane is due again after a delay that doubles with each failure in a row.
-- The service is down after five failures in a row over at least two lanes, or over the only one that waits, and at once
-- where connections are refused; it limits us where it answers 429. Then one lane at a time probes it.
-- KEYS  schedule, push of the lane, upstream, failing lanes
-- ARGV  lane, token, status, first delay in ms, longest delay in ms, jitter in 0..1, least delay in ms that the service asked for
-- Answers the delay in ms; false: the lease was lost.
-- A Retry-After beyond an hour is a mistake of somebody's.
local LONGEST_ASKED = 3600000
if not holds(KEYS[1], ARGV[1], ARGV[2]) then return false end
-- Behind a refusal stands how many were refused in a row.
local before, attempts = string.match(redis.call('GET', KEYS[2]) or '', ':(%w+):(%d+)$')
attempts = (before == '422' or before == '413') and 1 or (attempts or 0) + 1
local delay = math.min(tonumber(ARGV[5]), ARGV[4] * 2 ^ math.min(attempts - 1, 30))
local asked = math.min(tonumber(ARGV[7]), LONGEST_ASKED)
delay = math.floor(math.max(delay * (0.5 + ARGV[6] / 2), asked))
redis.call('ZADD', KEYS[1], 'XX', now + delay, ARGV[1])
redis.call('SET', KEYS[2], now .. ':' .. ARGV[3] .. ':' .. attempts, 'EX', 86400)

local failures = redis.call('HINCRBY', KEYS[3], 'failures', 1)
redis.call('SADD', KEYS[4], ARGV[1])
redis.call('EXPIRE', KEYS[4], 3600)
local state = redis.call('HGET', KEYS[3], 'state') or 'up'
local next_state = state
if ARGV[3] == '429' then
  next_state = 'limited'
elseif ARGV[3] == 'refused' then
  next_state = 'down'
elseif failures >= 5 and (redis.call('SCARD', KEYS[4]) > 1 or redis.call('ZCARD', KEYS[1]) == 1) then
  next_state = 'down'
end
if next_state ~= state then
  redis.call('HSET', KEYS[3], 'state', next_state, 'since', now)
  if state == 'up' then redis.call('HDEL', KEYS[3], 'prober') end
end
if next_state ~= 'up' then
  local pause = math.min(5000, math.max(1000, failures * 250)) * (0.5 + ARGV[6] / 2)
  if next_state == 'limited' then pause = math.max(pause, math.min(asked, 60000)) end
  redis.call('HSET', KEYS[3], 'probe', now + math.floor(math.max(pause, 1000)))
end
return delay
