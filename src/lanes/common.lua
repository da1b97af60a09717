-- In front of every script.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- Whether a lease is still held: the lane's score is the end of it.
local function holds(schedule, lane, token)
  return tonumber(redis.call('ZSCORE', schedule, lane) or -1) == tonumber(token)
end

-- The service has answered, well or not: it is up.
local function answered(upstream, failing)
  local known = redis.call('HMGET', upstream, 'state', 'failures')
  if known[1] ~= 'up' then redis.call('HSET', upstream, 'state', 'up', 'since', now) end
  if known[2] and known[2] ~= '0' then
    redis.call('HSET', upstream, 'failures', 0)
    redis.call('DEL', failing)
  end
end

