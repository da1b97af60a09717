-- Moves the end of leases that are still held.
-- KEYS  schedule
-- ARGV  ms of a lease; then lane and token of each
-- Answers each one's new token; false where the lease was lost.
local tokens = {}
for i = 2, #ARGV, 2 do
  local token = false
  if holds(KEYS[1], ARGV[i], ARGV[i + 1]) then
    token = string.format('%.2f', now + ARGV[1] + ARGV[i + 1] % 1)
    redis.call('ZADD', KEYS[1], 'XX', token, ARGV[i])
  end
  tokens[#tokens + 1] = token
end
return tokens
