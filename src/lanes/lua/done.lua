-- Drops what was delivered and hands out what comes next: at once where enough waits or it has to, else when it is due.
-- KEYS  schedule, custody, prefix of lanes, prefix of pushes, parked, ahead, upstream, failing lanes
-- ARGV  records of a whole batch, ms until what is left is due; then of each: lane, token, number delivered, status, number
--       wanted next (0: none), 1 where the next are wanted though they are no whole batch
-- Answers for each { the lease's new token, the next records }, both '' where none is to be pushed now; false: the lease was
-- lost, nothing was done. With the new token the same call, sent again since its answer was lost, does nothing.
local most = tonumber(ARGV[1])
local delivered = 0
local answers = {}

for i = 3, #ARGV, 6 do
  local lane, count, wanted = ARGV[i], tonumber(ARGV[i + 2]), tonumber(ARGV[i + 4])
  if holds(KEYS[1], lane, ARGV[i + 1]) then
    local list = KEYS[3] .. lane
    redis.call('LTRIM', list, count, -1)
    delivered = delivered + count
    local left = redis.call('LLEN', list)
    local at_once = ARGV[i + 5] == '1'
    if count > 0 then
      local was_parked = redis.call('HDEL', KEYS[5], lane) == 1
      at_once = sent_ahead(KEYS[6], lane) or was_parked or at_once
    end
    local answer = { '', '' }
    if left == 0 then
      redis.call('ZREM', KEYS[1], lane)
      redis.call('HDEL', KEYS[6], lane)
    elseif left < most and not at_once then
      redis.call('ZADD', KEYS[1], 'XX', now + ARGV[2], lane)
    elseif wanted == 0 then
      redis.call('ZADD', KEYS[1], 'XX', now, lane)
    else
      local token = string.format('%.2f', ARGV[i + 1] + 1)
      redis.call('ZADD', KEYS[1], 'XX', token, lane)
      answer = { token, table.concat(redis.call('LRANGE', list, 0, wanted - 1)) }
    end
    redis.call('SET', KEYS[4] .. lane, now .. ':' .. ARGV[i + 3] .. ':0', 'EX', 86400)
    answers[#answers + 1] = answer
  else
    answers[#answers + 1] = false
  end
end

if delivered > 0 then
  redis.call('HINCRBY', KEYS[2], 'delivered', delivered)
  answered(KEYS[7], KEYS[8])
end
return answers
