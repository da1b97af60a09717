-- Stores a group: every record at the end of its lane, every lane in the schedule, the counters with them.
-- KEYS  schedule, custody, prefix of lanes
-- ARGV  ms until a lane that was empty is due; the group; then name and amount of each counter
-- The group is, for each lane: u8 length of its name, name, u32 length of its records, records (first byte: length).
local byte, sub = string.byte, string.sub
local time = redis.call('TIME')
local due = time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[1]
local group, at = ARGV[2], 1
local scheduled = { 'ZADD', KEYS[1], 'NX' }

while at <= #group do
  local name = sub(group, at + 1, at + byte(group, at))
  at = at + 1 + #name
  local a, b, c, d = byte(group, at, at + 3)
  at = at + 4
  local finish = at + ((a * 256 + b) * 256 + c) * 256 + d
  local entries = {}
  while at < finish do
    local length = byte(group, at)
    entries[#entries + 1] = sub(group, at, at + length - 1)
    at = at + length
    if #entries == 1000 or at >= finish then
      redis.call('RPUSH', KEYS[3] .. name, unpack(entries))
      entries = {}
    end
  end
  scheduled[#scheduled + 1] = due
  scheduled[#scheduled + 1] = name
  if #scheduled > 2000 then
    redis.call(unpack(scheduled))
    scheduled = { 'ZADD', KEYS[1], 'NX' }
  end
end

if #scheduled > 3 then redis.call(unpack(scheduled)) end
for i = 3, #ARGV, 2 do redis.call('HINCRBY', KEYS[2], ARGV[i], ARGV[i + 1]) end
