-- Moves the end of leases that are still held.
-- KEYS  schedule
-- ARGV  ms of a lease; then lane and token of each
-- Answers each one's new token; false where the lease was lost.
local time = redis.call('TIME')
local token = string.format('%.1f', time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[1] + 0.5)
local tokens = {}
for i = 2, #ARGV, 2 do
  local held = tonumber(redis.call('ZSCORE', KEYS[1], ARGV[i]) or -1) == tonumber(ARGV[i + 1])
  if held then redis.call('ZADD', KEYS[1], 'XX', token, ARGV[i]) end
  tokens[#tokens + 1] = held and token
end
return tokens
