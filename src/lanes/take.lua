-- What to push first of leased lanes. A lease is taken once: its token's fraction becomes .75, so that of two who hold the same
-- ticket one has nothing. Of a lane that is behind (its oldest record waits for over 60 s) that is its newest
-- record: it is moved to the head, once until it is delivered, and handed out alone.
-- While the service is down or limits us, only the probe's lane gets something; the others are given back, due.
-- KEYS  schedule, prefix of lanes, parked, ahead, upstream
-- ARGV  records at most; then lane and token of each
-- Answers for each { new token, records, 'ahead', or why the lane is parked (one record, a probe), or '' }; false: the lease
-- was lost or given back, or taken by another.
local EPOCH, BEHIND = 1577836800000, 60000
local most = tonumber(ARGV[1])

local function behind(record)
  local a, b, c, d, e = string.byte(record, 3, 7)
  return now - EPOCH - ((((a * 256 + b) * 256 + c) * 256 + d) * 256 + e) > BEHIND
end

local function first(lane)
  local list = KEYS[2] .. lane
  local parked = redis.call('HGET', KEYS[3], lane)
  if parked then return redis.call('LINDEX', list, 0) or '', parked end
  if redis.call('HEXISTS', KEYS[4], lane) == 1 then return redis.call('LINDEX', list, 0) or '', 'ahead' end
  local head = redis.call('LINDEX', list, 0)
  if head and behind(head) and redis.call('LLEN', list) > 1 then
    local newest = redis.call('RPOP', list)
    redis.call('LPUSH', list, newest)
    redis.call('HSET', KEYS[4], lane, 1)
    return newest, 'ahead'
  end
  return table.concat(redis.call('LRANGE', list, 0, most - 1)), ''
end

local state, prober = unpack(redis.call('HMGET', KEYS[5], 'state', 'prober'))
local probing = state and state ~= 'up'
local batches = {}
for i = 2, #ARGV, 2 do
  local lane, token = ARGV[i], tonumber(ARGV[i + 1])
  if not holds(KEYS[1], lane, token) then
    batches[#batches + 1] = false
  elseif probing and lane ~= prober then
    redis.call('ZADD', KEYS[1], 'XX', now, lane)
    batches[#batches + 1] = false
  else
    token = string.format('%.2f', math.floor(token) + 0.75)
    redis.call('ZADD', KEYS[1], 'XX', token, lane)
    batches[#batches + 1] = { token, first(lane) }
  end
end
return batches
