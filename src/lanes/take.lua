-- What to push first of leased lanes.
-- KEYS  schedule, prefix of lanes, parked
-- ARGV  records at most; then lane and token of each
-- Answers for each { records, whether the lane is parked }: of a parked lane one record, a probe. False: the lease was lost.
local most = tonumber(ARGV[1])
local batches = {}
for i = 2, #ARGV, 2 do
  local lane = ARGV[i]
  if tonumber(redis.call('ZSCORE', KEYS[1], lane) or -1) == tonumber(ARGV[i + 1]) then
    local parked = redis.call('HEXISTS', KEYS[3], lane)
    local records = redis.call('LRANGE', KEYS[2] .. lane, 0, (parked == 1 and 1 or most) - 1)
    batches[#batches + 1] = { table.concat(records), parked }
  else
    batches[#batches + 1] = false
  end
end
return batches
