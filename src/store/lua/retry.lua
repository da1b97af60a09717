-- Ends a lease after a failure that may pass: the lane is due again after a delay that doubles with each failure in a row.
-- Its API is down after five failures in a row over at least two lanes, or over the only one that waits, and at once
-- where connections are refused, or something else answers in its place (not_the_api); it limits us where it answers 429.
-- Then one lane at a time probes it.
-- ARGV  lane, token, status, first delay in ms, longest delay in ms, jitter in 0..1, least delay in ms that the API asked for;
--       where there are several APIs its id, then company and API of each company with an API of its own
-- Answers the delay in ms; false: the lease was lost.
local schedule, pushes_prefix, upstream, failing = unpack(KEYS)
local lane, token, status = unpack(ARGV, 1, 3)
local first_delay, longest_delay, jitter = tonumber(ARGV[4]), tonumber(ARGV[5]), 0.5 + ARGV[6] / 2
-- A Retry-After beyond an hour is a mistake.
local asked = math.min(tonumber(ARGV[7]), 3600000)

if not holds(schedule, lane, token) then return false end
-- After a refusal the number counts consecutive refused records, not failed requests.
local last_status, attempts = string.match(last_push(pushes_prefix, lane), ':([^:]+):(%d+)$')
attempts = (last_status == '422' or last_status == '413') and 1 or (attempts or 0) + 1
local delay = math.min(longest_delay, first_delay * 2 ^ math.min(attempts - 1, 30)) * jitter
delay = math.floor(math.max(delay, asked))
set_due(schedule, lane, now + delay)
note_pushes(pushes_prefix, lane, outcome_of(status, attempts))

-- Whether no other lane of the API waits: of several APIs among the first thousand lanes of all.
local function is_only_lane()
  if #ARGV < 8 then return redis.call('ZCARD', schedule) == 1 end
  local own, apis = ARGV[8], {}
  for i = 9, #ARGV, 2 do apis[ARGV[i]] = ARGV[i + 1] end
  for _, other in ipairs(redis.call('ZRANGE', schedule, 0, 999)) do
    if other ~= lane and (apis[string.match(other, '^[^/]*')] or '') == own then return false end
  end
  return true
end

local failures = redis.call('HINCRBY', upstream, 'failures', 1)
redis.call('SADD', failing, lane)
redis.call('EXPIRE', failing, 3600)
local state = redis.call('HGET', upstream, 'state') or 'up'
local is_down = status == 'refused' or status == 'not_the_api'
  or failures >= 5 and (redis.call('SCARD', failing) > 1 or is_only_lane())
local next_state = status == '429' and 'limited' or is_down and 'down' or state
if next_state ~= state then
  redis.call('HSET', upstream, 'state', next_state, 'since', now)
  if state == 'up' then redis.call('HDEL', upstream, 'prober') end
end
if next_state ~= 'up' then
  local pause = math.min(5000, math.max(1000, failures * 250)) * jitter
  if next_state == 'limited' then pause = math.max(pause, math.min(asked, 60000)) end
  redis.call('HSET', upstream, 'probe', now + math.floor(math.max(pause, 1000)))
end
return delay
