-- What waits in lanes.
-- KEYS  prefix of lanes, prefix of pushes, parked, schedule, ahead
-- ARGV  lanes
-- Answers for each { records, oldest record or '', last push or '', parked or '', score or '' }.
local counts = {}
for _, lane in ipairs(ARGV) do
  local list = KEYS[1] .. lane
  local ahead = string.sub(redis.call('HGET', KEYS[5], lane) or '', 1, 1) == '1'
  counts[#counts + 1] = {
    redis.call('LLEN', list),
    redis.call('LINDEX', list, ahead and 1 or 0) or redis.call('LINDEX', list, 0) or '',
    redis.call('GET', KEYS[2] .. lane) or '',
    redis.call('HGET', KEYS[3], lane) or '',
    redis.call('ZSCORE', KEYS[4], lane) or '',
  }
end
return counts
