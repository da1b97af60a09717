-- Adds figures of what was delivered to what is known of lanes and a local day: their form is in lane-days.ts.
-- ARGV  seconds after which the day is deleted; then for each lane: lane, figures
local day = KEYS[1]
local kept_s = ARGV[1]
local HEAD, HEAD_BYTES, COUNT, COUNT_BYTES, LAST_BUCKET = '>I4I4I4I4I4', 20, '>BI4', 5, 95

local function add_delays(counts, figures)
  for at = HEAD_BYTES + 1, #figures, COUNT_BYTES do
    local bucket, count = struct.unpack(COUNT, figures, at)
    counts[bucket] = (counts[bucket] or 0) + count
  end
end

local function sum_of(known, new)
  local fixes, late, redelivered, first, last = struct.unpack(HEAD, known)
  local more, more_late, more_redelivered, other_first, other_last = struct.unpack(HEAD, new)
  local counts = {}
  add_delays(counts, known)
  add_delays(counts, new)
  local parts = {
    struct.pack(
      HEAD,
      fixes + more,
      late + more_late,
      redelivered + more_redelivered,
      math.min(first, other_first),
      math.max(last, other_last)
    ),
  }
  for bucket = 0, LAST_BUCKET do
    if counts[bucket] then parts[#parts + 1] = struct.pack(COUNT, bucket, counts[bucket]) end
  end
  return table.concat(parts)
end

local lanes, fields = {}, {}
for i = 2, #ARGV, 2 do lanes[#lanes + 1] = ARGV[i] end
local known = redis.call('HMGET', day, unpack(lanes))
for i, lane in ipairs(lanes) do
  local new = ARGV[2 * i + 1]
  fields[#fields + 1] = lane
  fields[#fields + 1] = known[i] and sum_of(known[i], new) or new
end
redis.call('HSET', day, unpack(fields))
if redis.call('TTL', day) < 0 then redis.call('EXPIRE', day, kept_s) end
