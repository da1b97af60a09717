-- Stores what arrived: one call, one fsync, for everybody who sent meanwhile.
-- KEYS  as store
-- ARGV  group; ms until a lane that was empty is due; ms for which what was seen is remembered; most held fixes of a device;
--       most unknown devices; then name and amount of each counter
-- Answers as store.
local answer = store(ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5]))
for i = 6, #ARGV, 2 do redis.call('HINCRBY', KEYS[2], ARGV[i], ARGV[i + 1]) end
return answer
