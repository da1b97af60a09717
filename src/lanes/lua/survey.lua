-- What the lanes of ARGV hold, for operations.
-- Answers for each { records, oldest record or '', last push or '', parked or '', when it is due or '' while it is leased }.
local schedule, lane_prefix, push_prefix, parked, ahead = unpack(KEYS)
local states = {}
for i, lane in ipairs(ARGV) do
  local list = lane_prefix .. lane
  local newest_at_head = string.sub(redis.call('HGET', ahead, lane) or '', 1, 1) == '1'
  local score = redis.call('ZSCORE', schedule, lane)
  states[i] = {
    redis.call('LLEN', list),
    redis.call('LINDEX', list, newest_at_head and 1 or 0) or redis.call('LINDEX', list, 0) or '',
    redis.call('GET', push_prefix .. lane) or '',
    redis.call('HGET', parked, lane) or '',
    score and is_due_time(score) and score or '',
  }
end
return states
