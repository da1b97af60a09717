-- Takes a lane from nobody: a lease for whoever is no worker.
-- KEYS  schedule
-- ARGV  lane, ms of the lease
-- Answers its token; false where the lane is leased, or not there.
local score = tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1]) or -1)
if score < 0 or (score % 1 ~= 0 and score > now) then return false end
local token = string.format('%.2f', now + ARGV[2] + 0.25)
redis.call('ZADD', KEYS[1], 'XX', token, ARGV[1])
return token
