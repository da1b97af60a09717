-- Scripts that show operations what lanes hold, and change nothing.

-- The first 7 bytes of the oldest record of a list, or zeros; `sent`: what the lane has in `ahead`.
local function received(list, sent)
  local is_newest_first = string.sub(sent or '', 1, 1) == '1'
  local oldest = redis.call('LINDEX', list, is_newest_first and 1 or 0) or redis.call('LINDEX', list, 0) or ''
  return string.sub(oldest, 1, 7) .. string.rep('\0', 7 - #oldest)
end

-- Counts a slice of all lanes. ARGV[1]: where it begins, '0': with the first lane.
-- Answers where the next slice begins, '0': there is none; its lanes, by lines; and for each 12 bytes: how many records, whether it
-- is parked, and the first 7 bytes of the oldest record, or zeros. A lane may come in two slices.
local function count_lanes()
  local schedule, lane_prefix, parked, ahead = unpack(KEYS)
  local next_slice, found = unpack(redis.call('ZSCAN', schedule, ARGV[1], 'COUNT', 60))
  if #found == 0 then return { next_slice, '', '' } end
  local lanes, counts = {}, {}
  for i = 1, #found, 2 do lanes[#lanes + 1] = found[i] end
  local reasons = redis.call('HMGET', parked, unpack(lanes))
  local newest_sent = redis.call('HMGET', ahead, unpack(lanes))
  for i, lane in ipairs(lanes) do
    local list = lane_prefix .. lane
    counts[i] = struct.pack('>I4B', redis.call('LLEN', list), reasons[i] and 1 or 0) .. received(list, newest_sent[i])
  end
  return { next_slice, table.concat(lanes, '\n'), table.concat(counts) }
end

-- Which lanes may have records of a device: those with one of its ids somewhere in their records, and those with more than 100.
-- ARGV  how many ids; the ids as records carry them; the lanes
local function lanes_with()
  local lane_prefix, ids = KEYS[1], tonumber(ARGV[1])
  local found = {}
  for i = ids + 2, #ARGV do
    local list = lane_prefix .. ARGV[i]
    local is_found = redis.call('LLEN', list) > 100
    local records = is_found and '' or table.concat(redis.call('LRANGE', list, 0, -1))
    for id = 2, ids + 1 do is_found = is_found or string.find(records, ARGV[id], 1, true) end
    if is_found then found[#found + 1] = ARGV[i] end
  end
  return found
end

-- What the lanes of ARGV hold.
-- Answers for each one text, since a reply of its own for each part costs the reader most of its time: the first 7 bytes of the
-- oldest record, or zeros; then by lines: records, last push or '', when it is due or '' while it is leased, parked (JSON) or ''.
local function survey()
  local schedule, lane_prefix, pushes_prefix, parked, ahead = unpack(KEYS)
  local states = {}
  for i, lane in ipairs(ARGV) do
    local list = lane_prefix .. lane
    local score = redis.call('ZSCORE', schedule, lane)
    states[i] = received(list, redis.call('HGET', ahead, lane)) .. table.concat({
      redis.call('LLEN', list),
      last_push(pushes_prefix, lane),
      score and is_due_time(score) and score or '',
      redis.call('HGET', parked, lane) or '',
    }, '\n')
  end
  return states
end
