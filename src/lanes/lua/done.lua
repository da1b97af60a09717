-- Drops what was delivered and hands out what comes next: at once where enough waits or the caller wants it, else when due.
-- ARGV  records of a whole batch, ms until what is left is due; then of each: lane, token, number delivered, status, number
--       wanted next (0: none), 1 where the next are wanted though they are no whole batch
-- Answers for each { new token, the next records }, both '' where none is to be pushed now; false: the lease was lost,
-- nothing was done.
local schedule, custody, lane_prefix, push_prefix, parked, ahead, upstream, failing = unpack(KEYS)
local whole_batch, lane_delay = tonumber(ARGV[1]), ARGV[2]

local function done(lane, token, count, wanted, at_once)
  local list = lane_prefix .. lane
  redis.call('LTRIM', list, count, -1)
  local left = redis.call('LLEN', list)
  if count > 0 then
    local was_parked = redis.call('HDEL', parked, lane) == 1
    at_once = note_sent_ahead(ahead, lane) or was_parked or at_once
  end
  if left == 0 then
    redis.call('ZREM', schedule, lane)
    redis.call('HDEL', ahead, lane)
  elseif left < whole_batch and not at_once then
    set_due(schedule, lane, now + lane_delay)
  elseif wanted == 0 then
    set_due(schedule, lane, now)
  else
    -- With the new token the same call, sent again since its answer was lost, does nothing.
    local new_token = renewed(token, token + 1)
    set_score(schedule, lane, new_token)
    return { new_token, table.concat(redis.call('LRANGE', list, 0, wanted - 1)) }
  end
  return { '', '' }
end

local delivered = 0
local answers = {}
for i = 3, #ARGV, 6 do
  local lane, token, count, status, wanted, at_once = unpack(ARGV, i, i + 5)
  if holds(schedule, lane, token) then
    answers[#answers + 1] = done(lane, token, tonumber(count), tonumber(wanted), at_once == '1')
    note_push(push_prefix .. lane, status, 0)
    delivered = delivered + count
  else
    answers[#answers + 1] = false
  end
end

if delivered > 0 then
  redis.call('HINCRBY', custody, 'delivered', delivered)
  note_answer(upstream, failing)
end
return answers
