-- Scripts that lease lanes and change nothing but their scores (see lease.lua).

-- Leases the lanes that are due, 1,000 at most; one at a time, when a probe is due, while the service is down or limits us.
-- None while workers are behind, so that leases do not end in the queue, and batches grow: `ARGV[3]` tickets wait for one.
-- Answers the token of all, and the lanes; nothing where none is due.
local function claim()
  local schedule, upstream, tickets, clock = unpack(KEYS)
  local lease_ms, most, most_tickets = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
  local state, probe_at = unpack(redis.call('HMGET', upstream, 'state', 'probe'))
  local probing = state and state ~= 'up'
  if redis.call('LLEN', tickets) >= most_tickets then return {} end
  if probing and now < tonumber(probe_at or 0) then return {} end
  local lanes = redis.call('ZRANGEBYSCORE', schedule, '-inf', now, 'LIMIT', 0, probing and 1 or most)
  -- Lanes that wait for their own delay are as good as any to find out whether the service is back.
  if #lanes == 0 and probing then
    local next_lanes = redis.call('ZRANGE', schedule, 0, 9, 'WITHSCORES')
    for i = #next_lanes - 1, 1, -2 do
      if not is_leased(next_lanes[i + 1]) then lanes = { next_lanes[i] } end
    end
  end
  if #lanes == 0 then return {} end

  note_clock(clock)
  if probing then redis.call('HSET', upstream, 'probe', now + lease_ms, 'prober', lanes[1]) end
  local token, scores = token_until(now + lease_ms, LEASED), {}
  for _, lane in ipairs(lanes) do add_score(scores, lane, token) end
  set_scores(schedule, scores)
  return { token, unpack(lanes) }
end

-- Moves the end of leases that still hold: ARGV has lane and token of each, behind the ms of a lease.
-- Answers the new token of each; false where the lease was lost.
local function renew()
  local schedule, lease_ms = KEYS[1], ARGV[1]
  local tokens = {}
  for i = 2, #ARGV, 2 do
    local lane, token = ARGV[i], ARGV[i + 1]
    local new_token = holds(schedule, lane, token) and renewed(token, now + lease_ms)
    if new_token then set_score(schedule, lane, new_token) end
    tokens[#tokens + 1] = new_token
  end
  return tokens
end

-- Ends a lease for which nothing was pushed: the lane is due after a delay.
local function postpone()
  local schedule, upstream = unpack(KEYS)
  local lane, token, delay_ms = unpack(ARGV)
  if not holds(schedule, lane, token) then return end
  set_due(schedule, lane, now + delay_ms)
  pass_probe_on(upstream, lane)
end

-- Leases an unleased lane for an admin operation. Answers the token; false where the lane is leased; '' where it is not in the schedule.
local function seize()
  local schedule, lane, lease_ms = KEYS[1], ARGV[1], ARGV[2]
  local score = redis.call('ZSCORE', schedule, lane)
  if not score then return '' end
  if is_leased(score) then return false end
  local token = token_until(now + lease_ms, SEIZED)
  set_score(schedule, lane, token)
  return token
end

-- Has those lanes of ARGV tried now that are parked; one that is being tried, once more at once if it is parked again.
local function try_parked()
  local schedule, parked = unpack(KEYS)
  for _, lane in ipairs(ARGV) do
    local score, reason = redis.call('ZSCORE', schedule, lane), redis.call('HGET', parked, lane)
    if score and reason and is_leased(score) then
      reason = cjson.decode(reason)
      reason.again = true
      redis.call('HSET', parked, lane, cjson.encode(reason))
    elseif score and reason then
      set_due(schedule, lane, now)
    end
  end
end

