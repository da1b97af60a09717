-- Claims devices of a zset whose held fixes, or frames, are to be looked at by now: they are looked at again after a while, unless whoever looks
-- says an earlier time.
-- ARGV  how many at most, ms until they are looked at again
-- Answers their names.
local devices = KEYS[1]
local most, again_ms = ARGV[1], ARGV[2]
local names = redis.call('ZRANGEBYSCORE', devices, '-inf', now, 'LIMIT', 0, most)
for _, name in ipairs(names) do redis.call('ZADD', devices, 'XX', now + again_ms, name) end
return names
