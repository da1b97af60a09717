-- Makes a lane due at once, unless it is being pushed.
-- KEYS  schedule
-- ARGV  lane
local score = tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1]) or 0)
if score % 1 == 0 or score < now then redis.call('ZADD', KEYS[1], 'XX', now, ARGV[1]) end
