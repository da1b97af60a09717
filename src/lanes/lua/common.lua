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

-- Of a lane that is behind: '1:' and when its newest record was received, while that stands at the head; '0:' once it was sent.
local function sent_ahead(key, lane)
  local newest = redis.call('HGET', key, lane)
  if not newest or string.sub(newest, 1, 1) ~= '1' then return false end
  redis.call('HSET', key, lane, '0' .. string.sub(newest, 2))
  return true
end

