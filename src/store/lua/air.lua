-- Adds what devices carried on the air to what is known of them and a local day: its form is in air.ts.
-- ARGV  seconds after which the day is deleted; then for each device: device, figures
local day = KEYS[1]
local kept_s = ARGV[1]
local FIGURES, MOST = '>I4I4I4I4', 4294967295

local function sum_of(known, new)
  local bytes, connections, fixes, since = struct.unpack(FIGURES, known)
  local more, more_connections, more_fixes, other_since = struct.unpack(FIGURES, new)
  return struct.pack(
    FIGURES,
    math.min(bytes + more, MOST),
    connections + more_connections,
    fixes + more_fixes,
    math.min(since, other_since)
  )
end

for i = 2, #ARGV, 2 do
  local device, new = ARGV[i], ARGV[i + 1]
  local known = redis.call('HGET', day, device)
  redis.call('HSET', day, device, known and sum_of(known, new) or new)
end
if redis.call('TTL', day) < 0 then redis.call('EXPIRE', day, kept_s) end
