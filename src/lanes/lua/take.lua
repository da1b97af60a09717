-- What to push first of leased lanes. A lease is taken once: its token's fraction becomes .75, so that of two who hold the same
-- ticket one has nothing. Of a lane that is behind (its oldest record waits for too long) that is its newest
-- record: it is moved to the head, handed out alone, and none again but one that was received later.
-- While the service is down or limits us, only the probe's lane gets something; the others are given back, due.
-- KEYS  schedule, prefix of lanes, parked, ahead, upstream
-- ARGV  records at most, ms for which the oldest record of a lane may wait; then lane and token of each
-- Answers for each { new token, ms until the lease ends, records, 'ahead', or why the lane is parked (one record, a probe), or '' }; false: the lease
-- was lost or given back, or taken by another.
local EPOCH = 1577836800000
local most, behind = tonumber(ARGV[1]), tonumber(ARGV[2])

-- When a record was received, ms since 2020, as text that sorts.
local function received(record)
  local a, b, c, d, e = string.byte(record, 3, 7)
  return string.format('%014d', (((a * 256 + b) * 256 + c) * 256 + d) * 256 + e)
end

local function first(lane)
  local list = KEYS[2] .. lane
  local head = redis.call('LINDEX', list, 0) or ''
  local parked = redis.call('HGET', KEYS[3], lane)
  if parked then return head, parked end
  local ahead = redis.call('HGET', KEYS[4], lane) or '0:'
  if string.sub(ahead, 1, 1) == '1' then return head, 'ahead' end
  if head ~= '' and now - EPOCH - received(head) > behind and redis.call('LLEN', list) > 1 then
    local newest = redis.call('LINDEX', list, -1)
    if received(newest) > string.sub(ahead, 3) then
      redis.call('RPOP', list)
      redis.call('LPUSH', list, newest)
      redis.call('HSET', KEYS[4], lane, '1:' .. received(newest))
      return newest, 'ahead'
    end
  end
  return table.concat(redis.call('LRANGE', list, 0, most - 1)), ''
end

local state, prober = unpack(redis.call('HMGET', KEYS[5], 'state', 'prober'))
local probing = state and state ~= 'up'
local batches = {}
for i = 3, #ARGV, 2 do
  local lane, token = ARGV[i], tonumber(ARGV[i + 1])
  if not holds(KEYS[1], lane, token) then
    batches[#batches + 1] = false
  elseif probing and lane ~= prober then
    redis.call('ZADD', KEYS[1], 'XX', now, lane)
    batches[#batches + 1] = false
  else
    token = string.format('%.2f', math.floor(token) + 0.75)
    redis.call('ZADD', KEYS[1], 'XX', token, lane)
    batches[#batches + 1] = { token, math.floor(tonumber(token) - now), first(lane) }
  end
end
return batches
