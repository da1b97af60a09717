-- Drops what was delivered and hands out what comes next: at once where a whole batch waits, else when it is due.
-- KEYS  schedule, custody, prefix of lanes, prefix of pushes, parked
-- ARGV  records at most, ms until what is left is due; then lane, token, number delivered, status, and 1 where
--       the next records are wanted, of each
-- Answers for each the next records, '' where none is to be pushed now; false: the lease was lost, nothing was done.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local most = tonumber(ARGV[1])
local delivered = 0
local answers = {}

for i = 3, #ARGV, 5 do
  local lane = ARGV[i]
  if tonumber(redis.call('ZSCORE', KEYS[1], lane) or -1) == tonumber(ARGV[i + 1]) then
    local list = KEYS[3] .. lane
    redis.call('LTRIM', list, ARGV[i + 2], -1)
    delivered = delivered + ARGV[i + 2]
    local left = redis.call('LLEN', list)
    local was_parked = redis.call('HDEL', KEYS[5], lane) == 1
    local answer = ''
    if left == 0 then
      redis.call('ZREM', KEYS[1], lane)
    elseif left < most and not was_parked then
      redis.call('ZADD', KEYS[1], 'XX', now + ARGV[2], lane)
    elseif ARGV[i + 4] == '0' then
      redis.call('ZADD', KEYS[1], 'XX', now, lane)
    else
      answer = table.concat(redis.call('LRANGE', list, 0, most - 1))
    end
    redis.call('SET', KEYS[4] .. lane, now .. ':' .. ARGV[i + 3] .. ':0', 'EX', 86400)
    answers[#answers + 1] = answer
  else
    answers[#answers + 1] = false
  end
end

if delivered > 0 then redis.call('HINCRBY', KEYS[2], 'delivered', delivered) end
return answers
