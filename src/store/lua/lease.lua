-- In front of every script: the clock of Redis, the meaning of a lane's score in the schedule, and what ids have in common.
--
-- The score is the state of the lane: a time in ms UTC, and a fraction that says what the time is.
--
--   .0   due      from then on the lane may be leased
--   .5   leased   until then: a dispatcher has claimed the lane for a ticket, no worker has begun with it
--   .75  taken    until then: a worker pushes the lane
--   .25  seized   until then: an admin operation changes the lane
--
-- The score of a leased lane is the token of its lease. Whoever has the token holds the lease; every script that changes a
-- leased lane compares the token first. A lease that is not renewed in time ends by itself: the lane is due again.
-- TypeScript keeps tokens and hands them back; it does not read them.
local LEASED, TAKEN, SEIZED = 0.5, 0.75, 0.25

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local function token_until(ms, state) return string.format('%.2f', math.floor(ms) + state) end

-- Returns the token of the same lease with another end.
local function renewed(token, ms) return token_until(ms, token % 1) end

local function is_due_time(score) return score % 1 == 0 end

local function is_leased(score) return not is_due_time(score) and tonumber(score) > now end

local function holds(schedule, lane, token)
  return tonumber(redis.call('ZSCORE', schedule, lane) or -1) == tonumber(token)
end

-- The lanes of a call that has every `size` arguments, from ARGV[first] on, one item that begins with lane and token; and for
-- each whether its lease holds: of a lane that comes twice only once, since its token changes.
local function leases_of(schedule, first, size)
  local lanes, held, seen = {}, {}, {}
  for i = first, #ARGV, size do lanes[#lanes + 1] = ARGV[i] end
  local scores = redis.call('ZMSCORE', schedule, unpack(lanes))
  for i, lane in ipairs(lanes) do
    local token = ARGV[first + (i - 1) * size + 1]
    held[i] = not seen[lane] and tonumber(scores[i] or -1) == tonumber(token)
    seen[lane] = seen[lane] or held[i]
  end
  return lanes, held
end

-- Within RENEWED_MS workers have renewed their leases. A lease is renewed so often that none ends within AWAY_MS.
local RENEWED_MS, AWAY_MS = 10000, 5000

-- Notes the latest time from which something was scheduled. If Redis' clock is behind it, the clock was set back: see
-- beat.lua. If it is far ahead, Redis or all workers were away, or the clock was set forward: leases have ended whose holders
-- may still push. Returns whether these still have time to renew them.
local function note_clock(clock)
  local beat, renewed_at = unpack(redis.call('HMGET', clock, 'beat', 'renewed_at'))
  local last = tonumber(beat or 0)
  if now > last then redis.call('HSET', clock, 'beat', now) end
  if last > 0 and now > last + AWAY_MS then
    renewed_at = string.format('%.0f', now + RENEWED_MS)
    redis.call('HSET', clock, 'renewed_at', renewed_at)
  end
  return tonumber(renewed_at or 0) > now
end

local function set_score(schedule, lane, score) redis.call('ZADD', schedule, 'XX', score, lane) end

local function set_due(schedule, lane, ms) set_score(schedule, lane, string.format('%.0f', ms)) end

-- Scores of many lanes, which one call sets.
local function add_score(scores, lane, score)
  scores[#scores + 1] = score
  scores[#scores + 1] = lane
end

local function add_due(scores, lane, ms) add_score(scores, lane, string.format('%.0f', ms)) end

local function set_scores(schedule, scores)
  if #scores > 0 then redis.call('ZADD', schedule, 'XX', unpack(scores)) end
end

-- The outcome of a lane's last push, for a day at least: its time, status, and how many in a row. A hash for each day: a string for
-- each lane costs three times as much.
local TODAY = math.floor(now / 86400000)

local function outcome_of(status, in_a_row) return now .. ':' .. status .. ':' .. in_a_row end

-- `...`: lane and outcome of each.
local function note_pushes(pushes_prefix, ...)
  redis.call('HSET', pushes_prefix .. TODAY, ...)
  redis.call('EXPIRE', pushes_prefix .. TODAY, 172800)
end

local function last_push(pushes_prefix, lane)
  return redis.call('HGET', pushes_prefix .. TODAY, lane) or redis.call('HGET', pushes_prefix .. (TODAY - 1), lane) or ''
end

-- Returns a key of the usual API ('') or of another one, by its id.
local function api_key(key, api) return api == '' and key or key .. ':' .. api end

-- The API has answered, well or not: it is up.
local function note_answer(upstream, failing)
  local state, failures = unpack(redis.call('HMGET', upstream, 'state', 'failures'))
  if state ~= 'up' then redis.call('HSET', upstream, 'state', 'up', 'since', now) end
  if failures and failures ~= '0' then
    redis.call('HSET', upstream, 'failures', 0)
    redis.call('DEL', failing)
  end
end

-- Nothing was sent for a lane: if it was chosen to probe its API, another lane probes.
local function pass_probe_on(upstream, lane)
  if redis.call('HGET', upstream, 'prober') == lane then redis.call('HSET', upstream, 'probe', now) end
end

-- A record of a parked lane was accepted or refused alone: the lane is parked no more, unless `try_parked` asked for it during the
-- request: then its records may belong elsewhere by now, and are looked up first. Answers whether it stays parked.
local function stays_parked(parked, lane, reason, left)
  reason = cjson.decode(reason)
  if left <= 0 or not reason.again then
    redis.call('HDEL', parked, lane)
    return false
  end
  reason.again = nil
  redis.call('HSET', parked, lane, cjson.encode(reason))
  return true
end

-- `ahead` has the lanes that are behind: '1:' and when the newest record was received, while this record is at the head of
-- the list; '0:' once it was sent. Answers whether it was at the head, and notes that it was sent.
local function note_sent_ahead(ahead, lane)
  local newest = redis.call('HGET', ahead, lane)
  if not newest or string.sub(newest, 1, 1) ~= '1' then return false end
  redis.call('HSET', ahead, lane, '0' .. string.sub(newest, 2))
  return true
end

-- Returns the common form of a device's ids: digits without leading zeros; any other text unchanged.
local function same_id(id) return string.match(id, '^0*(%d+)$') or id end
