-- Notes how many fixes of a lane and window were compared with the tracking API, and how many it does not have, in place of what was
-- noted of the window before.
-- KEYS  hash of the hour: lane -> for each of its windows two bytes for those compared and two for those missing; hash of the day: lane ->
--       the sums; hash of what is missing
-- ARGV  lane; number of the window in its hour; compared; missing; seconds until the hour expires, and the day; the window's field in
--       the third hash, and its value, empty if nothing is missing
local hour, day, missing_hash = unpack(KEYS)
local lane, window, checked, missing, hour_s, day_s, field, value = unpack(ARGV)

local packed = redis.call('HGET', hour, lane) or ''
local at = window * 4
if #packed < at + 4 then packed = packed .. string.rep('\0', at + 4 - #packed) end
local old_checked, old_missing = struct.unpack('>HH', packed, at + 1)
local noted = struct.pack('>HH', math.min(checked, 65535), math.min(missing, 65535))
redis.call('HSET', hour, lane, string.sub(packed, 1, at) .. noted .. string.sub(packed, at + 5))
redis.call('EXPIRE', hour, hour_s)

local sums = redis.call('HGET', day, lane) or '0 0'
local sum_checked, sum_missing = string.match(sums, '(%d+) (%d+)')
local new_checked = math.max(0, sum_checked + checked - old_checked)
local new_missing = math.max(0, sum_missing + missing - old_missing)
redis.call('HSET', day, lane, string.format('%d %d', new_checked, new_missing))
redis.call('EXPIRE', day, day_s)

if value == '' then
  redis.call('HDEL', missing_hash, field)
else
  redis.call('HSET', missing_hash, field, value)
end
return 1
