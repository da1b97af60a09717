-- Notes that a worker lives, by the clock of Redis, and forgets those that have not said so lately. Answers how many live.
-- Where the clock of Redis was set back since the last beat, what waits for a time would wait for as long as that: lanes that are not
-- leased, and the next probe, are due at once. A worker renews its leases by the new clock within seconds; those that nobody has
-- renewed by then end.
-- KEYS  as named, then the states of the APIs
-- ARGV  id of the worker, ms after which one is forgotten, ms of a lease
local workers, clock, schedule = unpack(KEYS, 1, 3)
local worker, forget_ms, lease_ms = unpack(ARGV)
-- A clock set back by less than STEP_MS delays a lane by no more than that.
local STEP_MS = 1000

local function make_due(is_late)
  local waiting = redis.call('ZRANGEBYSCORE', schedule, '(' .. now, '+inf', 'WITHSCORES')
  for i = 1, #waiting, 2 do
    if is_late(tonumber(waiting[i + 1])) then set_due(schedule, waiting[i], now) end
  end
end

-- A lease that was renewed in this millisecond is not lost: its score has a fraction.
local function is_lost(score) return not is_due_time(score) and score >= now + lease_ms + 1 end

local last, look_at = unpack(redis.call('HMGET', clock, 'beat', 'look_at_leases'))
if tonumber(last or 0) > now + STEP_MS then
  make_due(is_due_time)
  for i = 4, #KEYS do
    if redis.call('HEXISTS', KEYS[i], 'probe') == 1 then redis.call('HSET', KEYS[i], 'probe', now) end
  end
  redis.call('HSET', clock, 'look_at_leases', now + RENEWED_MS)
  redis.call('HDEL', clock, 'renewed_at')
elseif tonumber(look_at or now) < now then
  make_due(is_lost)
  redis.call('HDEL', clock, 'look_at_leases')
end
note_clock(clock)
redis.call('HSET', clock, 'beat', now)

redis.call('ZADD', workers, now, worker)
redis.call('ZREMRANGEBYSCORE', workers, '-inf', now - forget_ms)
redis.call('ZREMRANGEBYSCORE', workers, '(' .. now, '+inf')
return redis.call('ZCARD', workers)
