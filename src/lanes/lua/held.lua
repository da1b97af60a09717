-- Claims devices of zsets whose held fixes, or frames, are to be looked at by now: they are looked at again after a while, unless whoever looks
-- says an earlier time.
-- KEYS  the zsets
-- ARGV  how many of each at most, ms until they are looked at again
-- Answers their names for each zset.
local most, again_ms = ARGV[1], ARGV[2]
local claimed = {}
for i, devices in ipairs(KEYS) do
  claimed[i] = redis.call('ZRANGEBYSCORE', devices, '-inf', now, 'LIMIT', 0, most)
  for _, name in ipairs(claimed[i]) do redis.call('ZADD', devices, 'XX', now + again_ms, name) end
end
return claimed
