-- Scripts for refusals of the service: of a lane, or of one record.

-- Parks a lane whole: it keeps its records and its place in the schedule, where one record is tried after 15 s, 30 s, 60 s,
-- then every 5 minutes; at once where `try_parked` (schedule.lua) asked for that during the request.
-- Status 0: the reason is our own. `trace`: what names the request, JSON. Answers 1; false: the lease was lost.
local function park()
  local schedule, pushes_prefix, parked, upstream, failing = unpack(KEYS)
  local lane, token, status, text, trace = unpack(ARGV)
  local DELAYS = { 15000, 30000, 60000, 300000 }
  if not holds(schedule, lane, token) then return false end
  local before = redis.call('HGET', parked, lane)
  before = before and cjson.decode(before) or { tries = 0, since = now }
  local tries = before.tries + 1
  redis.call('HSET', parked, lane, cjson.encode({
    status = tonumber(status), message = text, tries = tries, at = now, since = before.since,
    trace = trace ~= 'null' and cjson.decode(trace) or nil,
  }))
  set_due(schedule, lane, now + (before.again and 0 or DELAYS[math.min(tries, #DELAYS)]))
  note_pushes(pushes_prefix, lane, outcome_of(status, 0))
  if status == '0' then pass_probe_on(upstream, lane) else note_answer(upstream, failing) end
  return 1
end

-- Moves the record at the head of a lane to the lane's refused ones. Where no records are wanted next, the lane is given back.
-- An entry of the refused ones: u32 length of its header, header (JSON: status, message, at, count), record.
-- Answers { how many were refused in a row, the next records or '' }; false: the lease was lost.
local function refuse()
  local schedule, list, pushes_prefix, refused, refused_lanes, parked, ahead, upstream, failing = unpack(KEYS)
  local lane, token, status, text, wanted = unpack(ARGV)
  if not holds(schedule, lane, token) then return false end
  local record = redis.call('LPOP', list)
  local header = cjson.encode({ status = tonumber(status), message = text, at = now, count = 1 })
  redis.call('RPUSH', refused, struct.pack('>I4', #header) .. header .. record)
  redis.call('ZADD', refused_lanes, 'NX', now, lane)
  local reason = redis.call('HGET', parked, lane)
  if reason and stays_parked(parked, lane, reason, redis.call('LLEN', list)) then wanted = '0' end
  note_sent_ahead(ahead, lane)
  local last_status, in_a_row = string.match(last_push(pushes_prefix, lane), ':(%d+):(%d+)$')
  in_a_row = last_status == status and in_a_row + 1 or 1
  note_pushes(pushes_prefix, lane, outcome_of(status, in_a_row))
  note_answer(upstream, failing)
  local records = ''
  if redis.call('EXISTS', list) == 0 then
    redis.call('ZREM', schedule, lane)
  elseif wanted == '0' then
    set_due(schedule, lane, now)
  else
    records = table.concat(redis.call('LRANGE', list, 0, wanted - 1))
  end
  return { in_a_row, records }
end

