-- Takes entries out of a list, to where their records belong by now or to nowhere, in one step with its counters.
-- KEYS  as store, then: list, its index (a zset), parked, ahead
-- ARGV  group; ms until a lane that was empty is due; ms for which what was seen is remembered; most held fixes of a device;
--       most unknown devices; then: name in the index, token of the lease where the list is a lane's own, else ''; number of
--       counters; name and amount of each; position in the list, from 0, and the entry as it was read there, of each
-- Answers as store; false where the list is not as it was read, or the lease was lost.
local name, token = ARGV[6], ARGV[7]
local first = 9 + 2 * ARGV[8]
if token ~= '' and not holds(KEYS[8], name, token) then return false end
for i = first, #ARGV, 2 do
  if redis.call('LINDEX', KEYS[7], ARGV[i]) ~= ARGV[i + 1] then return false end
end

for i = 9, first - 1, 2 do redis.call('HINCRBY', KEYS[2], ARGV[i], ARGV[i + 1]) end
-- What leaves is marked first, so that positions stay what they are.
for i = first, #ARGV, 2 do redis.call('LSET', KEYS[7], ARGV[i], '') end
redis.call('LREM', KEYS[7], (#ARGV - first + 1) / 2, '')
if redis.call('EXISTS', KEYS[7]) == 0 then
  redis.call('ZREM', KEYS[8], name)
  if token ~= '' then
    redis.call('HDEL', KEYS[9], name)
    redis.call('HDEL', KEYS[10], name)
  end
end
-- What was acknowledged once is never refused.
return store(ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), math.huge)
