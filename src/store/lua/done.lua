-- Drops the delivered records of leased lanes and returns the next records of each lane, if a whole batch waits or the
-- caller wants a smaller one; else the lane is due later.
-- ARGV  records of a whole batch, ms until the rest is due, ms for which delivered fixes are kept; then for each lane: lane,
--       token, number of records delivered, status, number of records wanted next (0: none), 1 if they are wanted even if
--       they are no whole batch, how many of those delivered were delivered before to another lane, chunks to keep (kept.lua),
--       the API that took them
-- Returns for each lane { new token, next records }; false if nothing is to be pushed now, or the lease was lost: then
-- nothing was changed.
-- include kept
local schedule, custody, lane_prefix, pushes_prefix, parked, ahead, upstream, failing = unpack(KEYS, 1, 8)
local kept = { prefix = KEYS[9], hours = KEYS[10], ms = tonumber(ARGV[3]), counts = {} }
local whole_batch, lane_delay = tonumber(ARGV[1]), ARGV[2]

local lanes, held = leases_of(schedule, 4, 9)
local reasons = redis.call('HMGET', parked, unpack(lanes))
local newest_sent = redis.call('HMGET', ahead, unpack(lanes))

-- Records are dropped first: that makes room if Redis is at its memory limit.
local left, emptied, emptied_lists = {}, {}, {}
for i, lane in ipairs(lanes) do
  if held[i] then
    local list, count = lane_prefix .. lane, tonumber(ARGV[9 * i - 3])
    left[i] = redis.call('LLEN', list) - count
    if left[i] <= 0 then
      emptied[#emptied + 1] = lane
      emptied_lists[#emptied_lists + 1] = list
    elseif count > 0 then
      redis.call('LTRIM', list, count, -1)
    end
  end
end
if #emptied > 0 then
  redis.call('DEL', unpack(emptied_lists))
  redis.call('ZREM', schedule, unpack(emptied))
end

local scores = {}

-- Returns the next records of a lane with a new token, if records are to be pushed now.
local function next_of(i, token, count, wanted, at_once)
  local lane = lanes[i]
  if count > 0 then
    if reasons[i] and stays_parked(parked, lane, reasons[i], left[i]) then wanted = 0 end
    at_once = newest_sent[i] and note_sent_ahead(ahead, lane) or reasons[i] or at_once
  end
  if left[i] <= 0 then
    if newest_sent[i] then redis.call('HDEL', ahead, lane) end
  elseif left[i] < whole_batch and not at_once then
    add_due(scores, lane, now + lane_delay)
  elseif wanted == 0 then
    add_due(scores, lane, now)
  else
    -- Because of the new token, a call that is sent again since its answer was lost does nothing.
    local new_token = renewed(token, token + 1)
    add_score(scores, lane, new_token)
    return { new_token, table.concat(redis.call('LRANGE', lane_prefix .. lane, 0, wanted - 1)) }
  end
  return false
end

local delivered, redelivered = 0, 0
local answered = {}
local answers, pushes = {}, {}
for i, lane in ipairs(lanes) do
  answers[i] = false
  if held[i] then
    local token, count, status, wanted, at_once = unpack(ARGV, 9 * i - 4, 9 * i)
    answers[i] = next_of(i, token, tonumber(count), tonumber(wanted), at_once == '1')
    pushes[#pushes + 1] = lane
    pushes[#pushes + 1] = outcome_of(status, 0)
    redelivered = redelivered + ARGV[9 * i + 1]
    delivered = delivered + count - ARGV[9 * i + 1]
    keep(kept, '\255' .. lane, ARGV[9 * i + 2])
    if count ~= '0' then answered[ARGV[9 * i + 3]] = true end
  end
end
set_scores(schedule, scores)
if #pushes > 0 then note_pushes(pushes_prefix, unpack(pushes)) end

count_kept(kept)
if delivered > 0 then redis.call('HINCRBY', custody, 'delivered', delivered) end
if redelivered > 0 then redis.call('HINCRBY', custody, 'redelivered', redelivered) end
for api in pairs(answered) do note_answer(api_key(upstream, api), api_key(failing, api)) end
return answers
