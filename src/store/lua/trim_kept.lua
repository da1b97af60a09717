-- Deletes kept fixes that are too old, and the oldest hours if all take too much memory. The clock of Redis counts, since
-- their lists expire by it. Deletes as many lists at once as take a millisecond.
-- ARGV  ms for which they are kept by their own time, 0: not at all; bytes that they may take; bytes of a fix, and of a list;
--       how many lists at most
-- Returns how many lists were deleted; 0: there is nothing to delete.
local kept_prefix, kept_hours = unpack(KEYS)
local keep_ms, most, fix_bytes, list_bytes, at_once = unpack(ARGV)
local first_hour = keep_ms == '0' and math.huge or math.floor((now - keep_ms) / 3600000)
if keep_ms == '0' then
  redis.call('HDEL', kept_hours, 'since', 'trimmed')
else
  redis.call('HSETNX', kept_hours, 'since', now)
end

local bytes, oldest = 0, nil
for _, field in ipairs(redis.call('HKEYS', kept_hours)) do
  local hour = tonumber(field)
  if hour then
    oldest = math.min(oldest or hour, hour)
    bytes = bytes + redis.call('HGET', kept_hours, field) * fix_bytes + redis.call('SCARD', kept_prefix .. field) * list_bytes
  end
end
local is_old = oldest and oldest < first_hour
if not oldest or not is_old and bytes <= tonumber(most) then return 0 end

local hour = string.format('%d', oldest)
if not is_old then redis.call('HSET', kept_hours, 'since', string.format('%.0f', (oldest + 1) * 3600000)) end
local devices = redis.call('SPOP', kept_prefix .. hour, at_once)
for _, device in ipairs(devices) do redis.call('UNLINK', kept_prefix .. hour .. ':' .. device) end
if #devices < tonumber(at_once) then
  if not is_old then redis.call('HINCRBY', kept_hours, 'trimmed', redis.call('HGET', kept_hours, hour)) end
  redis.call('HDEL', kept_hours, hour)
end
return math.max(1, #devices)
