-- What to push first of leased lanes. A lease is taken once: of two who hold the same ticket one has nothing. Of a lane that
-- is behind (its oldest record waits for too long) that is its newest record: it is moved to the head and handed out alone,
-- and no second one but a record that was received later. Of a parked lane it is one record, the probe.
-- While an API is down or limits us, only the lane that probes it gets something; its others are given back, due.
-- ARGV  records at most, ms for which the oldest record of a lane may wait; then lane, token and API of each
-- Answers for each { new token, ms until the lease ends, records, why the lane is parked or '' }; false: the lease was lost
-- or given back, or taken by another.
local schedule, lane_prefix, parked, ahead, upstream = unpack(KEYS)
local most, behind_ms = tonumber(ARGV[1]), tonumber(ARGV[2])

-- When a record was received, ms since 2020.
local EPOCH = 1577836800000
local function received(record)
  local a, b, c, d, e = string.byte(record, 3, 7)
  return (((a * 256 + b) * 256 + c) * 256 + d) * 256 + e
end

local lanes, held = leases_of(schedule, 3, 3)
local reasons = redis.call('HMGET', parked, unpack(lanes))
local newest_sent = redis.call('HMGET', ahead, unpack(lanes))

local function first_records(i)
  local lane, sent = lanes[i], newest_sent[i] or '0:0'
  local list = lane_prefix .. lane
  if reasons[i] then return redis.call('LINDEX', list, 0) or '', reasons[i] end
  if string.sub(sent, 1, 1) == '1' then return redis.call('LINDEX', list, 0) or '', '' end
  local records = redis.call('LRANGE', list, 0, most - 1)
  if #records > 0 and now - EPOCH - received(records[1]) > behind_ms and redis.call('LLEN', list) > 1 then
    local newest = redis.call('LINDEX', list, -1)
    if received(newest) > tonumber(string.sub(sent, 3)) then
      redis.call('RPOP', list)
      redis.call('LPUSH', list, newest)
      redis.call('HSET', ahead, lane, string.format('1:%014d', received(newest)))
      return newest, ''
    end
  end
  return table.concat(records), ''
end

-- The one lane of an API that may be pushed; nil: all may.
local probers = {}
local function prober_of(api)
  if probers[api] == nil then
    local state, prober = unpack(redis.call('HMGET', api_key(upstream, api), 'state', 'prober'))
    probers[api] = { only = state and state ~= 'up' and (prober or '') or nil }
  end
  return probers[api].only
end

local answers, scores = {}, {}
for i, lane in ipairs(lanes) do
  answers[i] = false
  local only = held[i] and prober_of(ARGV[3 * i + 2])
  if only and lane ~= only then
    add_due(scores, lane, now)
  elseif held[i] then
    local token = token_until(ARGV[3 * i + 1], TAKEN)
    add_score(scores, lane, token)
    answers[i] = { token, math.floor(token - now), first_records(i) }
  end
end
set_scores(schedule, scores)
return answers
