-- Scripts that lease lanes and only change their scores (see lease.lua).

-- Leases lanes until now + lease_ms. Answers their token.
local function lease(schedule, lanes, lease_ms)
  local token, scores = token_until(now + lease_ms, LEASED), {}
  for _, lane in ipairs(lanes) do add_score(scores, lane, token) end
  set_scores(schedule, scores)
  return token
end

-- Whether a lane is in the schedule and not leased. A lease that has ended counts, too: it may be renewed yet.
local function is_free(schedule, lane)
  local score = redis.call('ZSCORE', schedule, lane)
  return score and is_due_time(score)
end

-- The lanes that are due, at most so many, each with its score. Leases that have ended, but may be renewed yet, are left out.
local function due_lanes(schedule, clock, most)
  local function first(at, count)
    return redis.call('ZRANGEBYSCORE', schedule, '-inf', now, 'WITHSCORES', 'LIMIT', at, count)
  end
  local found = first(0, most)
  if #found == 0 or not note_clock(clock) then return found end
  local due, at, SLICE = {}, 0, 1000
  repeat
    found = first(at, SLICE)
    at = at + SLICE
    for i = 1, #found, 2 do
      if is_due_time(found[i + 1]) and #due < 2 * most then
        due[#due + 1] = found[i]
        due[#due + 1] = found[i + 1]
      end
    end
  until #found < 2 * SLICE or #due == 2 * most
  return due
end

-- The APIs of a claim: each with whether its lanes may be leased (`is_open`), or one of them, to probe it (`is_probed`).
-- ARGV from 5 on: id of each API, and 1 if the caller has room for its lanes; then company and API of each company with an API of its own.
local function apis_of_claim(upstream, aside)
  local apis, by_company, first_company = {}, {}, 5 + 2 * ARGV[4]
  for i = 5, first_company - 1, 2 do
    local id = ARGV[i]
    local state, probe_at = unpack(redis.call('HMGET', api_key(upstream, id), 'state', 'probe'))
    local is_up = not state or state == 'up'
    local api = {
      id = id, is_open = is_up and ARGV[i + 1] == '1', aside = api_key(aside, id), moved = {},
      is_probed = not is_up and now >= tonumber(probe_at or 0),
    }
    apis[#apis + 1] = api
    apis[id] = api
  end
  for i = first_company, #ARGV, 2 do by_company[ARGV[i]] = apis[ARGV[i + 1]] end
  return apis, function(lane) return by_company[string.match(lane, '^[^/]*')] or apis[''] end
end

-- Leases due lanes of several APIs. Lanes whose API is down, rate-limited, or without room are set aside, so that they do not
-- block others: they keep their place in the schedule, due in a minute, and are leased again once their API accepts requests.
local function claim_of_several()
  local schedule, upstream, _, clock, aside, failing = unpack(KEYS)
  local lease_ms, most = ARGV[1], tonumber(ARGV[2])
  local ASIDE_MS, MOST_BACK = 60000, 256
  local apis, api_of = apis_of_claim(upstream, aside)
  local claimed, seen, is_more = {}, {}, false

  local function add(lane)
    claimed[#claimed + 1] = lane
    seen[lane] = true
  end

  for _, api in ipairs(apis) do
    local back = api.is_open and #claimed < most and redis.call('ZPOPMIN', api.aside, MOST_BACK) or {}
    is_more = is_more or #back == 2 * MOST_BACK
    for i = 1, #back, 2 do
      if is_free(schedule, back[i]) and api_of(back[i]) == api then add(back[i]) end
    end
  end

  local due = due_lanes(schedule, clock, most)
  is_more = is_more or #due == 2 * most
  local away = {}
  for i = 1, #due, 2 do
    local lane, api = due[i], api_of(due[i])
    if api.is_open then
      if not seen[lane] then add(lane) end
    elseif api.is_probed and not api.prober then
      api.prober = lane
      add(lane)
    else
      api.moved[#api.moved + 1] = due[i + 1]
      api.moved[#api.moved + 1] = lane
      add_due(away, lane, now + ASIDE_MS)
    end
  end
  set_scores(schedule, away)

  for _, api in ipairs(apis) do
    if #api.moved > 0 then redis.call('ZADD', api.aside, 'NX', unpack(api.moved)) end
    -- Lanes that wait for their own delay are as good as any to find out whether the API is back.
    local function try(lane)
      if not api.prober and api_of(lane) == api and is_free(schedule, lane) then
        api.prober = lane
        add(lane)
      end
    end
    if api.is_probed and not api.prober then
      for _, lane in ipairs(redis.call('ZRANGE', api.aside, 0, 9)) do
        try(lane)
        if not redis.call('ZSCORE', schedule, lane) then redis.call('ZREM', api.aside, lane) end
      end
      if not api.prober then
        for _, lane in ipairs(redis.call('SRANDMEMBER', api_key(failing, api.id), 10)) do try(lane) end
      end
    end
    if api.prober then
      redis.call('HSET', api_key(upstream, api.id), 'probe', now + lease_ms, 'prober', api.prober)
    end
  end
  if #claimed == 0 then return is_more and { '', 1 } or {} end
  return { lease(schedule, claimed, lease_ms), is_more and 1 or 0, unpack(claimed) }
end

-- Leases the lanes that are due, 1,000 at most; one at a time, when a probe is due, while the API is down or limits us.
-- None while workers are behind, so that leases do not end in the queue, and batches grow: `ARGV[3]` tickets wait for one.
-- ARGV  ms of a lease, lanes at most, tickets; number of APIs if there are several, see `apis_of_claim`
-- Answers the token of all, 1 if more may be due, and the lanes; nothing where none is due.
local function claim()
  local schedule, upstream, tickets, clock = unpack(KEYS)
  local lease_ms, most, most_tickets = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
  if redis.call('LLEN', tickets) >= most_tickets then return {} end
  if ARGV[4] then return claim_of_several() end
  local state, probe_at = unpack(redis.call('HMGET', upstream, 'state', 'probe'))
  local probing = state and state ~= 'up'
  if probing and now < tonumber(probe_at or 0) then return {} end
  local due, lanes = due_lanes(schedule, clock, probing and 1 or most), {}
  for i = 1, #due, 2 do lanes[#lanes + 1] = due[i] end
  -- Lanes that wait for their own delay are as good as any to find out whether the API is back.
  if #lanes == 0 and probing then
    local next_lanes = redis.call('ZRANGE', schedule, 0, 9, 'WITHSCORES')
    for i = #next_lanes - 1, 1, -2 do
      if is_due_time(next_lanes[i + 1]) then lanes = { next_lanes[i] } end
    end
  end
  if #lanes == 0 then return {} end
  if probing then redis.call('HSET', upstream, 'probe', now + lease_ms, 'prober', lanes[1]) end
  return { lease(schedule, lanes, lease_ms), #lanes == most and 1 or 0, unpack(lanes) }
end

-- Takes back at most a thousand lanes that were set aside, because they may have another API now. Answers how many.
local function recall()
  local schedule, aside = unpack(KEYS)
  local back, scores = redis.call('ZPOPMIN', aside, 1000), {}
  for i = 1, #back, 2 do
    if is_free(schedule, back[i]) then add_due(scores, back[i], math.min(now, back[i + 1])) end
  end
  set_scores(schedule, scores)
  return #back / 2
end

-- Moves the end of leases that still hold. ARGV  ms of a lease; '1': once more, as the last answer may be lost; lane and token of each
-- Answers the new token of each; false where the lease was lost.
local function renew()
  local schedule, lease_ms, is_again = KEYS[1], ARGV[1], ARGV[2] == '1'
  local tokens = {}

  -- Whether the lost call has set this score. Another lease would end later, and a step that has run (done.lua) adds 1.
  local function is_own(score, token)
    return score % 1 == token % 1 and score > token + 1 and score <= token + lease_ms
  end

  for i = 3, #ARGV, 2 do
    local lane, token = ARGV[i], tonumber(ARGV[i + 1]) or -2
    local score = tonumber(redis.call('ZSCORE', schedule, lane) or -1)
    local new_token = (score == token or is_again and is_own(score, token)) and renewed(token, now + lease_ms)
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

-- Leases an unleased lane for an admin operation. Answers the token; false if the lane is leased; '' if it is not in the
-- schedule.
local function seize()
  local schedule, lane, lease_ms = KEYS[1], ARGV[1], ARGV[2]
  local score = redis.call('ZSCORE', schedule, lane)
  if not score then return '' end
  if is_leased(score) then return false end
  local token = token_until(now + lease_ms, SEIZED)
  set_score(schedule, lane, token)
  return token
end

-- Has those lanes of ARGV tried now that are parked; one that is being tried, once more at once.
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

