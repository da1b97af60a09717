-- What the lanes of ARGV hold, for operations.
-- Answers for each one text, since a reply of its own for each part costs the reader most of its time: the first 7 bytes of the
-- oldest record, or zeros; then by lines: records, last push or '', when it is due or '' while it is leased, parked (JSON) or ''.
local schedule, lane_prefix, push_prefix, parked, ahead = unpack(KEYS)
local states = {}
for i, lane in ipairs(ARGV) do
  local list = lane_prefix .. lane
  local newest_at_head = string.sub(redis.call('HGET', ahead, lane) or '', 1, 1) == '1'
  local score = redis.call('ZSCORE', schedule, lane)
  local oldest = redis.call('LINDEX', list, newest_at_head and 1 or 0) or redis.call('LINDEX', list, 0) or ''
  local received = string.sub(oldest, 1, 7)
  states[i] = received .. string.rep('\0', 7 - #received) .. table.concat({
    redis.call('LLEN', list),
    redis.call('GET', push_prefix .. lane) or '',
    score and is_due_time(score) and score or '',
    redis.call('HGET', parked, lane) or '',
  }, '\n')
end
return states
